package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// SkillType is the kind of a skill.
type SkillType string

// The kinds.
const (
	SkillKind   SkillType = "skill"   // included for an agent when a task names it or matches it
	CommandKind SkillType = "command" // a prompt, of .claude/commands
	AgentKind   SkillType = "agent"   // a role, of .claude/agents
)

// Skill is a text that is invoked by its name.
type Skill struct {
	Kind        SkillType
	Name        string
	Description string // its purpose; empty: it is not offered, only used by its name
	File        string // path as in [InstructionRuleFile]
	Own         bool
	Text        string // the body
	Tools       []string
	Model       string
	State       trust.TrustState

	place  rulesDirectory
	name   string   // relative to its place
	whole  string   // the whole file, which is trusted
	paths  []string // patterns of files: the skill applies to work on these
	manual bool     // only people invoke it
	rule   bool     // a rule, which needs no trust
}

const (
	maxName        = 64
	maxDescription = 1024
	leastWords     = 3 // words of a description that a task must contain to match it
	leastLetters   = 5 // least letters of such a word
)

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// readSkillsIn reads the skills of a directory: each is a directory with SKILL.md. A skill whose
// name exists already is refused: the repository's come first.
func (s *RuleSet) readSkillsIn(l *ruleLoader, p rulesDirectory, dir string) {
	names := p.listFiles(dir, "*/SKILL.md")
	if len(names) > maxFiles {
		l.skipFile(p, dir, fmt.Errorf("it has %d skills, and only %d are read", len(names), maxFiles))
		names = names[:maxFiles]
	}
	for _, name := range names {
		k, err := readSkill(p, name, SkillKind)
		if k.Name == "" {
			k.Name = path.Base(path.Dir(name))
		}
		switch i := slices.IndexFunc(s.skills, func(o Skill) bool { return o.Name == k.Name && o.Kind == SkillKind }); {
		case err != nil:
		case len(k.Name) > maxName || !skillName.MatchString(k.Name):
			err = fmt.Errorf("its name %q is not of letters a-z, digits and single hyphens", sanitize.TruncateText(k.Name, maxName))
		case k.Description == "":
			err = errors.New("it has no description")
		case i >= 0:
			err = fmt.Errorf("%s has the same name", s.skills[i].File)
		}
		if err != nil {
			l.skipFile(p, name, err)
			continue
		}
		if k.manual {
			k.Description = ""
		}
		s.skills = append(s.skills, k)
	}
}

// readCommandsAndAgents reads the commands and agents of Claude Code.
func (s *RuleSet) readCommandsAndAgents(l *ruleLoader) {
	for _, c := range []struct {
		kind         SkillType
		dir, pattern string
	}{{CommandKind, ".claude/commands", "*.md"}, {CommandKind, ".claude/commands", "*/*.md"}, {AgentKind, ".claude/agents", "*.md"}} {
		for i, name := range s.repo.listFiles(c.dir, c.pattern) {
			if i == maxFiles {
				l.skipFile(s.repo, c.dir, fmt.Errorf("only %d of its files are read", maxFiles))
				break
			}
			k, err := readSkill(s.repo, name, c.kind)
			if err != nil {
				l.skipFile(s.repo, name, err)
				continue
			}
			if k.Name == "" || c.kind == CommandKind {
				k.Name = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, c.dir+"/"), ".md"), "/", ":")
			}
			s.skills = append(s.skills, k)
		}
	}
}

func readSkill(p rulesDirectory, name string, kind SkillType) (Skill, error) {
	text, _, err := p.readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is not there")
	}
	if err != nil {
		return Skill{}, err
	}
	meta, body := splitFrontMatter(text)
	if strings.TrimSpace(body) == "" {
		return Skill{}, errors.New("it has no text")
	}
	return Skill{
		Kind: kind, Name: meta.singleValue("name"), Description: sanitize.TruncateText(meta.singleValue("description"), maxDescription), File: p.label + name, Own: p.own,
		Text: strings.TrimSpace(body), Tools: meta.listValues("tools", "allowed-tools"), Model: meta.singleValue("model"), State: trust.StateNew,
		place: p, name: name, whole: text, paths: meta.listValues("paths"), manual: meta.isEnabled("disable-model-invocation"),
	}, nil
}

// Items returns the items of the repository that need trust before they are used.
func (s *RuleSet) Items() []trust.TrustItem {
	var items []trust.TrustItem
	for _, k := range s.skills {
		if !k.Own && !k.rule {
			items = append(items, trust.TrustItem{Name: k.File, Text: k.whole})
		}
	}
	return items
}

// markTrustedSkills sets whether each skill is trusted. The user's own, and rules, need no trust.
func (s *RuleSet) markTrustedSkills(repo string, book *trust.Store) error {
	states := map[string]trust.TrustState{}
	if items := s.Items(); book != nil && len(items) > 0 {
		all, err := book.ItemStates(repo, items)
		if err != nil {
			return err
		}
		for _, j := range all {
			states[j.Name] = j.State
		}
	}
	for i, k := range s.skills {
		switch state, known := states[k.File]; {
		case k.Own || k.rule:
			s.skills[i].State = trust.StateTrusted
		case known:
			s.skills[i].State = state
		}
	}
	return nil
}

// FindSkill returns the skill with a name.
func (s *RuleSet) FindSkill(kind SkillType, name string) (Skill, bool) {
	if s == nil {
		return Skill{}, false
	}
	i := slices.IndexFunc(s.skills, func(k Skill) bool { return k.Kind == kind && k.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return s.skills[i], true
}

// AllSkills returns all skills, trusted or not.
func (s *RuleSet) AllSkills() []Skill { return slices.Clone(s.skills) }

// ExpandPrompt returns a command's prompt with its arguments.
func (k Skill) ExpandPrompt(arguments string) string {
	if !strings.Contains(k.Text, "$ARGUMENTS") && arguments != "" {
		return k.Text + "\n\n" + arguments
	}
	return strings.ReplaceAll(k.Text, "$ARGUMENTS", arguments)
}

// applicableReason returns why a skill applies to a task, or "".
func (k Skill) applicableReason(paths []string, words string) (RuleReason, string) {
	if k.Kind != SkillKind {
		return "", ""
	}
	if isSkillNamed(k.Name, words) {
		return Named, k.Name
	}
	if pattern, ok := firstMatchingPattern(k.paths, paths); ok {
		return Matched, pattern
	}
	var both []string
	of := wordsOf(words)
	for w := range wordsOf(k.Name + " " + k.Description) {
		if of[w] {
			both = append(both, w)
		}
	}
	if k.Description != "" && len(both) >= leastWords {
		slices.Sort(both)
		return Matched, strings.Join(both, " ")
	}
	return "", ""
}

// isSkillNamed reports whether a text names a skill. A name that is a plain word needs a mark, or
// every task that contains the word would name it.
func isSkillNamed(name, text string) bool {
	mark := `(?:[/$@])`
	if strings.Contains(name, "-") {
		mark = `(?:^|[^a-z0-9-])`
	}
	name = regexp.QuoteMeta(strings.ToLower(name))
	found, err := regexp.MatchString(`(?:`+mark+name+`|`+name+` skill|skill `+name+`)(?:$|[^a-z0-9-])`, strings.ToLower(text))
	return err == nil && found
}

// common are words in the descriptions of most skills.
const common = " about after agent before between change could every files first guide other project should skill " +
	"tests their there these thing using wants whenever where which while write writing "

// wordsOf returns the specific words of a text.
func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && r < 0x80 }) {
		if len(w) >= leastLetters && !strings.Contains(common, " "+w+" ") {
			all[w] = true
		}
	}
	return all
}
