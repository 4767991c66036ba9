package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// findVulnerableDependencies runs the package managers' own audits for known vulnerabilities.
func findVulnerableDependencies(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	asked := false
	unread := changemetrics.UnauditedLockFiles()
	for _, file := range slices.Concat(s.files, s.locks) {
		if slices.Contains(unread, path.Base(file.path)) && isSafeInCheck(file.path) {
			found.Notes = append(found.Notes, file.path+" was not checked: Nexus knows no program that checks it")
			asked = true
		}
		for _, a := range changemetrics.AuditPrograms() {
			if path.Base(file.path) != a.File || !isSafeInCheck(file.path) {
				continue
			}
			asked = true
			f, note, err := s.auditLockFile(ctx, file.path, a)
			if err != nil {
				return found, err
			}
			if note != "" {
				found.Notes = append(found.Notes, note)
			} else if f.ID != "" {
				found.Findings = append(found.Findings, f)
			}
		}
	}
	if !asked {
		found.Skipped = "no lock file here that a program can check"
	}
	return found, nil
}

// auditLockFile audits one lock file. The note is the reason if that failed.
func (s *SourceTree) auditLockFile(ctx context.Context, name string, a changemetrics.DependencyAuditProgram) (f discoveredwork.WorkFinding, note string, err error) {
	g := gate.QualityGate{Name: "audit: " + name, Args: a.Args, Dir: path.Dir(name), Format: outputparser.Exit}
	s.programs[a.Args[0]] = true
	if s.programVersion(a.Args[0]) == "none" {
		return f, fmt.Sprintf("%s was not checked: %s is not installed", name, a.Args[0]), nil
	}
	e, printed, err := s.runGate(ctx, g)
	if err != nil || e.State == nexus.Pass {
		return f, "", err
	}
	hit := regexp.MustCompile("(?m)"+a.Found+".*$").FindAllString(printed, -1)
	if e.State != nexus.Fail || len(hit) == 0 {
		return f, fmt.Sprintf("%s was not checked: %s could not tell: %s", name, strings.Join(a.Args, " "), failureLine(printed, e.Why)), nil
	}
	f = discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("dependencies", name, strings.Join(hit, "\n")), Strategy: "dependencies", Kind: discoveredwork.Deps, Severity: nexus.PriorityHigh,
		Title: fmt.Sprintf("Update the dependencies in %s that have known vulnerabilities", name), Why: truncateRunes(hit[0], 160),
		Evidence: truncateRunes(strings.Join(hit[:min(len(hit), 5)], "\n"), 600), Count: len(hit), Minutes: discoveredwork.EstimateMinutes("dependencies", len(hit)),
		Places: []discoveredwork.FindingPlace{{File: name}}, Check: commandFromRoot(g, a.Args), State: nexus.Fail,
	}
	return f, "", nil
}

// failureLine returns the line in which a program reports its failure: the first that names an
// error, or the last one; or other if it printed nothing.
func failureLine(printed, other string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	for _, text := range lines {
		if strings.Contains(strings.ToLower(text), "error") {
			last = strings.TrimSpace(text)
			break
		}
	}
	if last != "" {
		return truncateRunes(last, 120)
	}
	return other
}

// findWithPlugins returns the findings of plugins.
func findWithPlugins(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	if s.o.Plugins == nil {
		found.Skipped = "no plugin discovers"
		return found, nil
	}
	var err error
	found.Findings, err = s.o.Plugins(ctx, s.checkOutTree)
	return found, err
}

// AskPluginForFindings asks a plugin for findings in the files of a tree. Bad lists the unusable
// findings; an error means that the plugin did not answer.
func AskPluginForFindings(ctx context.Context, h *plugin.PluginHost, p plugin.DeclaredPlugin, tree string) (all []discoveredwork.WorkFinding, bad []string, err error) {
	out := &plugin.DiscoveryOutput{}
	q := plugin.HostQuestion{Input: plugin.DiscoveryInput{Tree: tree, Most: most}, Output: out}
	answers, err := h.AskPlugin(ctx, p, nexus.PluginDiscovery, []plugin.HostQuestion{q}, tree)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range answers {
		if a.State != nexus.PluginOK {
			return nil, nil, &plugin.Error{Plugin: p.Name, State: a.State, Why: a.Why}
		}
	}
	for _, d := range out.Findings[:min(len(out.Findings), most)] {
		f := discoveredwork.WorkFinding{
			ID: p.Name + "/" + d.ID, Strategy: "plugins", Kind: discoveredwork.Task, Title: d.Title, Why: d.Reason, Severity: nexus.PriorityMedium,
			Minutes: d.Minutes, Check: d.Check,
		}
		for _, file := range d.Files {
			f.Places = append(f.Places, discoveredwork.FindingPlace{File: file})
		}
		all = append(all, f)
	}
	return all, out.Bad, nil
}

// OpenForgeIssue is an open issue of the forge.
type OpenForgeIssue struct {
	Number int
	Title  string
	Web    string // page for people
	Labels []string
}

// listForgeIssues returns the open issues of the forge by people who may write to the project.
func listForgeIssues(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	if s.o.Issues == nil {
		found.Skipped = "the repository has no remote on a forge that Nexus knows"
		return found, nil
	}
	all, note, err := s.o.Issues(ctx)
	if err != nil {
		return found, err
	}
	if note != "" {
		found.Notes = append(found.Notes, note)
	}
	for _, i := range all {
		title := strings.Join(strings.Fields(i.Title), " ")
		f := discoveredwork.WorkFinding{
			ID: fmt.Sprintf("issues/%d", i.Number), Strategy: "issues", Kind: discoveredwork.Task,
			Title: truncateRunes(fmt.Sprintf("Issue #%d: %s", i.Number, title), 110),
			Why:   "it is open: " + i.Web, Severity: nexus.PriorityMedium,
		}
		for _, l := range i.Labels {
			switch strings.ToLower(l) {
			case "bug":
				f.Severity, f.Kind = nexus.PriorityHigh, discoveredwork.Fix
			case "security":
				f.Severity, f.Kind = nexus.PriorityCritical, discoveredwork.Security
			case "documentation", "docs":
				f.Kind = discoveredwork.Docs
			}
		}
		things := 1
		if f.Kind == discoveredwork.Task {
			things = 2
		}
		f.Minutes = discoveredwork.EstimateMinutes("issues", things)
		found.Findings = append(found.Findings, f)
	}
	return found, nil
}

// requestModelIdeas asks a model for ideas.
func requestModelIdeas(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	if s.o.Ideas == nil {
		return StrategyResult{Skipped: "there is no model to ask"}, nil
	}
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return StrategyResult{}, err
	}
	all, cost, err := s.o.Ideas(ctx, b)
	s.spent += cost
	return StrategyResult{Findings: all}, err
}
