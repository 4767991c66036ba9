package toyworld

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// coderKnowledge is a model of the knowledge that coders need. Each task has facts that its work must
// respect. A coder knows the facts that it has received, in the first message of its
// conversation or from a gate since; the tests report the first one that the work violates. So
// each unknown fact costs a round. A gate's report is not always understood: then the coder
// writes the same as before. A new attempt is a new conversation, which knows its first message
// and nothing else.
type coderKnowledge struct {
	facts map[nexus.TaskID][]string
	dull  map[nexus.Tier]Probability // probability that a round's report is not understood
	told  bool                       // a new attempt receives the known facts, and not only how earlier ones ended
}

// learningCoder is a coder who needs knowledge.
type learningCoder struct {
	round int  // the last in which it wrote
	dull  bool // it did not understand the report before that
}

// factNames returns the facts of a task. They differ in more than digits, which the signature of a
// failure omits.
func factNames() []string {
	return []string{"alder", "birch", "cedar", "elder", "fir", "hazel", "larch", "maple", "oak", "pine"}
}

// KnowledgeScenario returns a scenario whose only fault is that coders do not know the necessary facts.
// With told, new attempts receive the results of earlier ones, otherwise only how they ended.
func KnowledgeScenario(r *rand.Rand, told bool) RunScenario {
	s := RunScenario{
		Given: true, stubborn: map[nexus.TaskID]bool{},
		Limits: nexus.Limits{
			Parallel: 4, Turns: 20, Rounds: 50, Same: 3, ReviewRounds: 3, Losses: 3, LandTries: 3, MajorsBlock: 1, RunMoney: 1000 * nexus.Dollar,
			PerTier: map[nexus.Tier]int{nexus.Fast: 5, nexus.Balanced: 3, nexus.Strong: 2}, Dispatches: 500,
		},
		know: &coderKnowledge{
			facts: map[nexus.TaskID][]string{}, told: told,
			dull: map[nexus.Tier]Probability{nexus.Fast: 0.4, nexus.Balanced: 0.3, nexus.Strong: 0.2},
		},
	}
	for i := range 6 {
		id := nexus.TaskID(fmt.Sprintf("T%d", i+1))
		s.Tasks = append(s.Tasks, nexus.Task{ID: id, Title: "a task", Minutes: 10, Strategy: nexus.NoTest, Reason: "its tests are there", Files: []string{"f" + string(id)}})
		names := factNames()
		for _, n := range r.Perm(len(names))[:2+r.IntN(4)] {
			s.know.facts[id] = append(s.know.facts[id], string(id)+"-"+names[n])
		}
	}
	return s
}

// firstMissingFact returns a gate's evidence about a tree: the finding is the first fact that the work of
// a task violates.
func (k *coderKnowledge) firstMissingFact(tasks []nexus.Task, t toyTree, e nexus.GateEvidence) nexus.GateEvidence {
	for _, task := range tasks {
		content := t.ContentOf(task.Files[0])
		if content == "" || e.Gate != "test" {
			continue
		}
		for _, fact := range k.facts[task.ID] {
			if !slices.Contains(strings.Fields(content), fact) {
				e.State, e.Why = nexus.Fail, "it is red"
				e.Findings = append(e.Findings, nexus.Finding{Gate: e.Gate, File: task.Files[0], Message: "it ignores " + fact})
				return e
			}
		}
	}
	return e
}

// hasAllFacts is the truth about a tree without any chance.
func (k *coderKnowledge) hasAllFacts(tasks []nexus.Task, t toyTree) bool {
	return len(k.firstMissingFact(tasks, t, nexus.GateEvidence{Gate: "test"}).Findings) == 0
}

// knownFacts returns the facts that the coder of the attempt knows.
func (x *SimulatedWorker) knownFacts() []string {
	k := x.scenario.know
	said := x.openingMessage()
	for _, r := range x.a.Rounds {
		for _, e := range r.Evidence {
			for _, f := range e.Findings {
				said += "\n" + f.Message
			}
		}
	}
	var known []string
	for _, fact := range k.facts[x.View.Task.ID] {
		if strings.Contains(said, fact) {
			known = append(known, fact)
		}
	}
	return known
}

// openingMessage returns the first message of the coder's conversation, made by the code that makes
// the real one.
func (x *SimulatedWorker) openingMessage() string {
	account := attempthistory.SummarizeAttempts(x.View)
	for i := range account.Attempts {
		a := &account.Attempts[i]
		a.Files = x.View.Task.Files
	}
	if !x.scenario.know.told {
		account = attempthistory.AttemptsSummary{Attempts: account.Attempts}
	} else if at := account.Closest.At; at != "" {
		for f := range x.treeAt(at).EachFile() {
			if f.Content != x.treeAt(account.Closest.Base).ContentOf(f.Name) {
				account.Closest.Diff += fmt.Sprintf("+%s: %s\n", f.Name, f.Content)
			}
		}
	}
	return prompt.TaskBrief{Session: nexus.SessionID(x.a.ID + "/coder.1"), Task: x.View.Task.Task, Base: x.a.Base, Tried: account}.Text()
}

// writeKnownFacts writes all facts that the coder of the attempt knows, or, in a round whose report it
// does not understand, the same as before.
func (x *SimulatedWorker) writeKnownFacts() toyTree {
	t, file := x.currentTree(), x.View.Task.Files[0]
	if n := len(x.a.Rounds); x.round != n {
		x.round, x.dull = n, n > 1 && x.drawChance(x.scenario.know.dull[x.a.Tier])
	}
	facts := x.knownFacts()
	if x.dull {
		_, before, _ := strings.Cut(t.ContentOf(file), " ")
		facts = strings.Fields(before)
	}
	return t.WithFile(file, strings.Join(append([]string{x.newID(string(x.a.ID) + ":")}, facts...), " "))
}

// hasWritten reports whether a session may be done: a coder who needs knowledge writes in each
// round.
func (x *SimulatedWorker) hasWritten(s *state.AgentSessionState) bool {
	return x.scenario.know == nil || s.Role != nexus.Coder || x.round == len(x.a.Rounds)
}

// isOwnFailure reports whether the red tests came with the work. The facts that coders need are in tests
// that were there before.
func (x *SimulatedWorker) isOwnFailure(sum nexus.GatesVerdictGiven) bool {
	return x.scenario.know == nil && sum.State == nexus.Fail && sum.Gate != "build" && x.hasOwnTest()
}
