package criteriondiagnosis

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

//go:embed schema.json
var schema []byte

// opinionSchema returns the JSON Schema of a diagnosis.
func opinionSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test parses it
		return schema
	}
	return b.Bytes()
}

// criterionOpinion is a verifier's opinion about a criterion.
type criterionOpinion struct {
	Criterion string                       `json:"criterion"`
	Kind      nexus.CriterionFaultLocation `json:"kind"`
	Reason    string                       `json:"reason"`
}

const maxSize = 1 << 20 // largest diagnosis in bytes

// parseOpinions reads a diagnosis. The caller removes opinions about criteria that were not asked
// about.
func parseOpinions(data []byte) ([]criterionOpinion, error) {
	var said struct {
		Faults []criterionOpinion `json:"faults"`
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("the diagnosis has %d bytes, the maximum is %d", len(data), maxSize)
	}
	if problems := agent.DecodeStrictly(data, schema, &said); len(problems) > 0 {
		return nil, errors.New("read the diagnosis: " + strings.Join(problems, "; "))
	}
	if len(said.Faults) == 0 {
		return nil, errors.New("read the diagnosis: it says nothing")
	}
	for _, o := range said.Faults {
		switch o.Kind {
		case nexus.FaultInSource, nexus.FaultInTest, nexus.FaultInBoth:
		default:
			return nil, fmt.Errorf("read the diagnosis: %q is not one of source, test, both", o.Kind)
		}
	}
	return said.Faults, nil
}

// askVerifier asks a verifier for the fault in cases that evidence could not decide. If its answer
// cannot be read, the check stays unchanged.
func (w *criteriaDiagnosis) askVerifier(ctx context.Context, open []*examinedCriterion) error {
	id := nexus.SessionID(fmt.Sprintf("%s/%s.1", w.a.ID, nexus.Verifier))
	old := w.a.SessionByID(id)
	if old == nil || !old.Over {
		next := ""
		if old == nil || len(old.Messages) == 0 {
			next = verifierQuestionText(id, open)
		}
		hash, err := w.Worker.Trees.PrivateRepo().TreeID(ctx, w.view.Tip)
		if err != nil {
			return err
		}
		if err := w.tree.ResetExactly(ctx, hash); err != nil {
			return err
		}
		o, err := w.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: w.a, Session: id, Role: nexus.Verifier, Readers: w.view.Readers, Tree: w.tree, Base: w.view.Goal.Base,
			Next: next, Why: "brief", Handin: opinionSchema(), Limits: w.view.Limits, Record: w.recordFacts,
		}, w.desk)
		switch {
		case err != nil:
			return err
		case o.Outcome == nexus.Refused:
			return worker.BudgetExceededError(o.Why)
		}
		old = w.a.SessionByID(id)
	}
	said := map[string]criterionOpinion{}
	why := "the verifier did not name the cause: " + string(old.Outcome)
	if old.Outcome == nexus.Accepted && old.Result != "" {
		data, err := w.Worker.Site.Blobs.Get(old.Result)
		if err != nil {
			return err
		}
		all, bad := parseOpinions(data)
		for _, o := range all {
			said[o.Criterion] = o
		}
		why = "the verifier did not name the cause"
		if bad != nil {
			why = bad.Error()
		}
	}
	for _, x := range open {
		if o, ok := said[x.fault.Criterion]; ok {
			x.fault.Kind, x.fault.By = o.Kind, string(id)
			x.fault.Why = strings.TrimSpace(x.fault.Why + " " + o.Reason)
			continue
		}
		x.fault.Kind = nexus.FaultInSource // so that the check stays as it is
		x.fault.Why = strings.TrimSpace(x.fault.Why + " The check is assumed to be right: " + why + ".")
	}
	return nil
}

// verifierQuestionText returns the question about criteria.
func verifierQuestionText(id nexus.SessionID, open []*examinedCriterion) string {
	var b strings.Builder
	b.WriteString("Each of these tasks has landed, and its check passed then, or should have. On the result of all tasks, which is your tree, these checks fail:\n")
	var evidence []nexus.GateEvidence
	diff := ""
	for _, x := range open {
		fmt.Fprintf(&b, "- %s: %s\n  check: %s\n", x.fault.Criterion, prompt.SingleLine(x.criterion.Text), prompt.SingleLine(x.criterion.Check))
		if x.fault.Why != "" {
			fmt.Fprintf(&b, "  %s\n", x.fault.Why)
		}
		for _, f := range x.red.Findings[:min(len(x.red.Findings), 5)] {
			fmt.Fprintf(&b, "  it says: %s:%d: %s\n", prompt.SingleLine(f.File), f.Line, prompt.SingleLine(f.Message))
		}
		evidence = append(evidence, x.red)
		if diff == "" {
			diff = x.diff
		}
	}
	return prompt.TaskBrief{
		Session: id, Task: nexus.Task{Title: "Say why criteria are not met", Brief: b.String()}, Evidence: evidence, Diff: diff,
		Order: "There is no change to judge this time: submit no verdict. Say for each of these where the fault is: source if the work does not do what the criterion says, " +
			"test if the check asks for something that the criterion does not say or that a later task rightly changed, both if both are wrong. " +
			"Read the check and the work first. Whoever fixes the source may not change the check; say test only if you are sure.",
	}.Text()
}
