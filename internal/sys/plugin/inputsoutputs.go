package plugin

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Limits of a plugin's answer.
const (
	MaxText     = 8_000 // used bytes of a text for a prompt
	maxWords    = 500   // bytes of a reason, and of one-line texts
	maxProse    = 4_000 // bytes of a message, an advice or a quote
	maxFindings = 100
	maxFiles    = 100
	maxMinutes  = 24 * 60
)

// PluginOutput is the answer of a plugin.
type PluginOutput interface {
	// check returns an error if the answer cannot be used.
	check() error
}

// DecodeAnswer decodes an answer, and validates it.
func DecodeAnswer(data []byte, into PluginOutput) error {
	if err := decodeStrict(data, into); err != nil {
		return fmt.Errorf("its answer is not what was asked for (%s): %s", decodeReason(err), showLine(data))
	}
	if err := into.check(); err != nil {
		return fmt.Errorf("its answer is not what was asked for: %w", err)
	}
	return nil
}

// PluginTask is a task in the form for plugins.
type PluginTask struct {
	ID       nexus.TaskID      `json:"id"`
	Title    string            `json:"title"`
	Brief    string            `json:"brief,omitzero"`
	Kind     nexus.TaskKind    `json:"kind,omitzero"`
	Files    []string          `json:"files,omitempty"`
	Tags     []string          `json:"tags,omitempty"`
	Criteria []PluginCriterion `json:"criteria,omitempty"`
}

// PluginCriterion is an acceptance criterion of a task.
type PluginCriterion struct {
	Text  string `json:"text"`
	Check string `json:"check,omitzero"`
}

// NewPluginTask returns a task in the form for plugins.
func NewPluginTask(t nexus.Task) PluginTask {
	all := make([]PluginCriterion, len(t.Criteria))
	for i, c := range t.Criteria {
		all[i] = PluginCriterion{c.Text, c.Check}
	}
	return PluginTask{t.ID, t.Title, t.Brief, t.Kind, t.Files, t.Tags, all}
}

// RouterInput asks in which tier work on a task starts.
type RouterInput struct {
	Goal       string                  `json:"goal"`
	Task       PluginTask              `json:"task"`
	Complexity []nexus.Complexity      `json:"complexities"` // possible values, easiest first
	Tiers      []nexus.Tier            `json:"tiers"`        // cheapest first
	Strategies []nexus.WritingStrategy `json:"strategies"`   // allowed proposals
}

// RouterOutput is a router's proposal. The zero value is none.
type RouterOutput struct {
	Complexity nexus.Complexity      `json:"complexity"`
	Tier       nexus.Tier            `json:"tier"`
	Strategy   nexus.WritingStrategy `json:"strategy"`
	Why        string                `json:"why"`
}

// RouterStrategies returns the strategies that a router may propose. Working without tests is not one:
// only the plan or a person may choose it.
func RouterStrategies() []nexus.WritingStrategy {
	return slices.DeleteFunc(nexus.Strategies(), func(s nexus.WritingStrategy) bool { return s == nexus.NoTest })
}

func (o *RouterOutput) check() error {
	switch {
	case o.Complexity != "" && !o.Complexity.IsKnown():
		return fmt.Errorf("complexity %q is not one of simple, medium, complex, expert", sanitize.TruncateText(string(o.Complexity), maxName))
	case o.Tier != "" && !o.Tier.IsKnown():
		return fmt.Errorf("tier %q is not one of fast, balanced, strong", sanitize.TruncateText(string(o.Tier), maxName))
	case o.Strategy != "" && !slices.Contains(RouterStrategies(), o.Strategy):
		return fmt.Errorf("strategy %q is not one of %s", sanitize.TruncateText(string(o.Strategy), maxName), nexus.JoinWords(RouterStrategies()))
	case o.Tier != "" && o.Complexity == "":
		return errors.New("it has a tier and no complexity")
	}
	return checkLine("why", o.Why)
}

// ReviewerInput asks for the defects of a change.
type ReviewerInput struct {
	Goal    string          `json:"goal"`
	Task    PluginTask      `json:"task"`
	Attempt nexus.AttemptID `json:"attempt"`
	Tree    string          `json:"tree"`  // directory with the current files, read-only
	Files   []string        `json:"files"` // changed files
	Diff    string          `json:"diff"`
}

// ReviewerOutput has a reviewer's findings. It approves nothing: a reviewer without findings only
// has no objection.
type ReviewerOutput struct {
	Summary  string          `json:"summary"`
	Findings []ReviewFinding `json:"findings"`
}

// ReviewFinding is one defect.
type ReviewFinding struct {
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Quote    string         `json:"quote"` // text of the file around the line
	Severity nexus.Severity `json:"severity"`
	Category string         `json:"category"`
	Message  string         `json:"message"`
	Advice   string         `json:"advice"`
}

func (o *ReviewerOutput) check() error {
	if len(o.Findings) > maxFindings {
		return fmt.Errorf("it has %d findings, the maximum is %d", len(o.Findings), maxFindings)
	}
	if len(o.Summary) > maxProse {
		return fmt.Errorf("its summary has more than %d bytes", maxProse)
	}
	for i, f := range o.Findings {
		if err := f.check(); err != nil {
			return fmt.Errorf("finding %d: %w", i+1, err)
		}
	}
	return nil
}

func (f ReviewFinding) check() error {
	severities := []nexus.Severity{nexus.Critical, nexus.Major, nexus.Minor, nexus.Suggestion}
	switch {
	case !slices.Contains(severities, f.Severity):
		return fmt.Errorf("severity %q is not one of %s", sanitize.TruncateText(string(f.Severity), maxName), nexus.JoinWords(severities))
	case strings.TrimSpace(f.Message) == "":
		return errors.New("it has no message")
	case max(len(f.Message), len(f.Advice), len(f.Quote)) > maxProse:
		return fmt.Errorf("its message, advice or quote has more than %d bytes", maxProse)
	case f.Line < 0:
		return fmt.Errorf("line %d is below 0", f.Line)
	case f.Line > 0 && f.File == "":
		return errors.New("it has a line and no file")
	}
	return checkTreePath(f.File)
}

// ContextInput asks for a text for the prompt of a task's agent.
type ContextInput struct {
	Goal  string     `json:"goal"`
	Task  PluginTask `json:"task"`
	Role  nexus.Role `json:"role"`
	Tree  string     `json:"tree"`  // directory with the current files, read-only
	Bytes int        `json:"bytes"` // limit of the text
}

// ContextOutput is a text for a prompt. The zero value is none.
type ContextOutput struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

func (o *ContextOutput) check() error { return checkLine("title", o.Title) }

// EmptyReporterOutput is empty: a reporter only receives events.
type EmptyReporterOutput struct{}

func (o *EmptyReporterOutput) check() error { return nil }

// DiscoveryInput asks for work to do.
type DiscoveryInput struct {
	Tree string `json:"tree"` // directory with the files, read-only
	Most int    `json:"most"` // limit of findings
}

// DiscoveryOutput lists work to do, the most important first.
type DiscoveryOutput struct {
	Findings []DiscoveredWork `json:"findings"`
	Bad      []string         `json:"-"` // why its other findings cannot be used
}

// DiscoveredWork is one piece of work.
type DiscoveredWork struct {
	ID      string   `json:"id"` // stable identifier of the work
	Title   string   `json:"title"`
	Reason  string   `json:"reason"`
	Minutes int      `json:"minutes"` // estimated duration; 0: unknown
	Files   []string `json:"files"`
	Check   string   `json:"check"` // command that fails now, and succeeds when the work is done
}

// check removes the unusable findings. The others remain valid: the cause is often the content of
// one file.
func (o *DiscoveryOutput) check() error {
	if len(o.Findings) > maxFindings {
		return fmt.Errorf("it has %d findings, the maximum is %d", len(o.Findings), maxFindings)
	}
	seen := map[string]bool{}
	var good []DiscoveredWork
	for i, f := range o.Findings {
		err := f.check()
		if err == nil && seen[f.ID] {
			err = fmt.Errorf("the ID %q is used twice", f.ID)
		}
		if err != nil {
			o.Bad = append(o.Bad, fmt.Sprintf("finding %d: %s", i+1, err))
			continue
		}
		seen[f.ID] = true
		good = append(good, f)
	}
	o.Findings = good
	return nil
}

func (f DiscoveredWork) check() error {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`).MatchString(f.ID):
		return fmt.Errorf("its ID %q is not up to 80 letters, digits, dots, _ and -", sanitize.TruncateText(f.ID, maxName))
	case strings.TrimSpace(f.Title) == "" || strings.TrimSpace(f.Reason) == "":
		return errors.New("it has no title, or no reason")
	case strings.TrimSpace(f.Check) == "":
		return errors.New("it has no check that fails now")
	case f.Minutes < 0 || f.Minutes > maxMinutes:
		return fmt.Errorf("%d minutes are not between 0 and %d", f.Minutes, maxMinutes)
	case len(f.Files) > maxFiles:
		return fmt.Errorf("it names more than %d files", maxFiles)
	}
	for _, name := range f.Files {
		if err := checkTreePath(name); err != nil || name == "" {
			return fmt.Errorf("%q is not a file of the repository", sanitize.TruncateText(name, maxName))
		}
	}
	return errors.Join(checkLine("title", f.Title), checkLine("reason", f.Reason), checkLine("check", f.Check))
}

// checkLine returns an error if a text cannot be one line of a report.
func checkLine(name, text string) error {
	if len(text) > maxWords || strings.ContainsAny(text, "\n\r") || sanitize.RevealHidden(text) != text {
		return fmt.Errorf("its %s is not one line of at most %d bytes without hidden characters", name, maxWords)
	}
	return nil
}

// checkTreePath returns an error if a path cannot be that of a file in a repository; "" is valid.
func checkTreePath(name string) error {
	if name == "" {
		return nil
	}
	if len(name) > maxWords || !filepath.IsLocal(name) || sanitize.RevealHidden(name) != name || strings.ContainsAny(name, "\n\r") {
		return fmt.Errorf("%q is not a path in the repository", sanitize.TruncateText(name, maxName))
	}
	return nil
}
