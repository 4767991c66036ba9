// Package docscmd implements the commands "nexus docs": they list and write the documents about a
// repository's code.
package docscmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/codedoc"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// New returns the command.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("docs", "list, write and refresh documents about the code", NewList(c, nil), NewRefresh(c, nil))
}

// documentRow is a document with its state.
type documentRow struct {
	codedoc.CodeDocument

	State   string   `json:"state"`             // fresh, stale, missing, own (a person wrote it) or unreadable
	Edited  bool     `json:"edited,omitzero"`   // a person edited the generated text
	Changed []string `json:"changed,omitempty"` // source files that changed since it was generated
	Why     string   `json:"why,omitzero"`      // why it cannot be read
	Hint    string   `json:"hint,omitzero"`
}

// docsRepository is a repository as opened by a command.
type docsRepository struct {
	settings config.Config
	store    codedoc.DocStore
	repo     git.Repo
	head     string
	rows     []documentRow
}

func openDocs(ctx context.Context, a *console.Console) (d docsRepository, err error) {
	if d.settings, _, err = a.LoadSettings(); err != nil {
		return d, err
	}
	dir, err := a.WorkDir()
	if err != nil {
		return d, err
	}
	if d.repo, err = git.FindRepo(ctx, dir); err != nil {
		return d, err
	}
	if d.repo.Work == "" {
		return d, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no checkout to keep documents in", Hint: "Go to a checkout of the repository.",
		}
	}
	if d.head, _, err = d.repo.Head(ctx); err != nil {
		return d, err
	}
	d.store = codedoc.DocStore{Top: d.repo.Work, Show: d.settings.Policy.Show}
	docs, problems, err := d.store.LoadDocuments()
	if err != nil {
		return d, err
	}
	now, err := codedoc.SourceBlobsAt(ctx, d.repo, d.head, docs)
	if err != nil {
		return d, err
	}
	for _, t := range codedoc.DocumentTopics() {
		d.rows = append(d.rows, documentState(t.Name, docs, problems, now))
	}
	return d, nil
}

// documentState returns the state of a document.
func documentState(name string, docs []codedoc.CodeDocument, problems []codedoc.InvalidDocument, now func(string) string) documentRow {
	r := documentRow{CodeDocument: codedoc.CodeDocument{Name: name}, State: "missing"}
	for _, p := range problems {
		if p.Name == name {
			r.State, r.Why = "unreadable", p.Err.Error()
			if e, ok := errors.AsType[*nexus.Error](p.Err); ok {
				r.Hint = e.Hint
			}
		}
	}
	for _, d := range docs {
		if d.Name != name {
			continue
		}
		r.CodeDocument, r.State, r.Changed = d, "fresh", d.ChangedSources(now)
		switch {
		case len(d.From) == 0:
			r.State = "own"
		case len(r.Changed) > 0:
			r.State = "stale"
		}
		r.Edited = r.State != "own" && d.IsEdited()
	}
	return r
}

// documentList is the JSON output of `docs list`.
type documentList struct {
	Documents []documentRow `json:"documents"`
}

// ListOptions are the options of nexus docs list.
type ListOptions struct {
	Console *console.Console
}

// NewList returns the command that lists the documents. It calls run with the parsed options; nil runs
// the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	if run == nil {
		run = listDocuments
	}
	command := c.Command("list [--json]", "list the documents, and why one is out of date", func(ctx context.Context, _ []string) error {
		return run(ctx, &ListOptions{Console: c})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

func listDocuments(ctx context.Context, o *ListOptions) error {
	d, err := openDocs(ctx, o.Console)
	if err != nil {
		return err
	}
	err = o.Console.Answer(documentList{d.rows}, func(s view.OutputStyle) string { return drawDocuments(s, d.rows) })
	if err == nil && slices.ContainsFunc(d.rows, func(r documentRow) bool { return r.State == "unreadable" }) {
		err = console.ExitError(console.CodeFailed)
	}
	return err
}

func drawDocuments(s view.OutputStyle, all []documentRow) string {
	rows := make([][]string, len(all))
	for i, r := range all {
		rows[i] = []string{r.Name, r.State, r.Made, stateReason(r)}
	}
	return view.DrawTable(s, []string{"document", "state", "made", "why"}, rows)
}

func stateReason(r documentRow) string {
	var all []string
	if r.Edited {
		all = append(all, "edited by hand")
	}
	if n := len(r.Changed); n > 0 {
		some := view.EscapeForTerminal(strings.Join(r.Changed[:min(n, 3)], ", "))
		all = append(all, fmt.Sprintf("%d of %s changed: %s", n, view.CountWithNoun(len(r.From), "file"), some))
	}
	if r.Why != "" {
		all = append(all, view.EscapeForTerminal(r.Why+". "+r.Hint))
	}
	return strings.Join(all, "; ")
}

// refreshedDocument is the result for one document.
type refreshedDocument struct {
	Name   string      `json:"name"`
	File   string      `json:"file,omitzero"`
	State  string      `json:"state"` // written, kept, or planned
	Why    string      `json:"why,omitzero"`
	Tokens int64       `json:"tokens,omitzero"` // input, estimated
	Price  nexus.Money `json:"price,omitzero"`  // estimated; 0: unknown
}

// refreshResult is the JSON output of `docs refresh`.
type refreshResult struct {
	Model     string              `json:"model,omitzero"`
	Documents []refreshedDocument `json:"documents"`
	Most      nexus.Money         `json:"most"` // limit for all: the budget
	Money     nexus.Money         `json:"money"`
}

// RefreshOptions are the options of nexus docs refresh.
type RefreshOptions struct {
	Console *console.Console
	Names   []string // documents to write; empty: those that are missing or out of date
	Force   bool     // replace documents that a person wrote or edited, too
	DryRun  bool     // only estimate
}

// NewRefresh returns the command that writes documents. It calls run with the parsed options; nil runs
// the command.
func NewRefresh(c *console.Console, run func(context.Context, *RefreshOptions) error) *cobra.Command {
	o := &RefreshOptions{Console: c}
	if run == nil {
		run = refreshDocuments
	}
	const short = "write the documents that are missing or out of date"
	command := c.Command("refresh [NAME...] [flags]", short, func(ctx context.Context, args []string) error {
		o.Names = args
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.BoolVar(&o.Force, "force", false, "replace a document that a person wrote or edited, too")
	f.BoolVar(&o.DryRun, "dry-run", false, "only print what would be written, and what it would cost")
	c.JSONFlag(command)
	c.SettingFlags(command, "model", "budget", "sandbox")
	return command
}

func refreshDocuments(ctx context.Context, o *RefreshOptions) error {
	if o.Console.Env(sandbox.Mark) != "" {
		return &nexus.Error{
			Code: nexus.CodeForbidden, Message: "agents may not write the documents", Hint: "Report errors in one when you submit.",
		}
	}
	d, err := openDocs(ctx, o.Console)
	if err != nil {
		return err
	}
	result, err := d.writeDocuments(ctx, o)
	if err != nil {
		return err
	}
	return o.Console.Answer(result, func(s view.OutputStyle) string { return drawOutcome(s, result, o.DryRun) })
}

// selectTopics returns the documents to write, and those that are kept.
func (d docsRepository) selectTopics(names []string, force bool) (todo []codedoc.DocumentTopic, kept []refreshedDocument, err error) {
	var known []string
	for _, r := range d.rows {
		known = append(known, r.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no document %s", view.QuoteForTerminal(n)),
				Hint: "The documents are " + strings.Join(known, ", ") + ".",
			}
		}
	}
	for i, t := range codedoc.DocumentTopics() {
		r := d.rows[i]
		theirs := r.Edited || r.State == "own" || r.State == "unreadable"
		switch named := slices.Contains(names, t.Name); {
		case len(names) > 0 && !named, len(names) == 0 && r.State == "fresh" && !force:
		case theirs && !force && named:
			return nil, nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s/%s.md was written or edited by hand", codedoc.Dir, t.Name),
				Hint: "Copy what you need from it, and replace it with --force.",
			}
		case theirs && !force:
			kept = append(kept, refreshedDocument{Name: t.Name, State: "kept", Why: "a person wrote or edited it; --force replaces it"})
		default:
			todo = append(todo, t)
		}
	}
	return todo, kept, nil
}

// writeDocuments writes documents one after the other. Written documents remain if a later one fails.
func (d docsRepository) writeDocuments(ctx context.Context, o *RefreshOptions) (result refreshResult, err error) {
	c := o.Console
	todo, kept, err := d.selectTopics(o.Names, o.Force)
	result.Documents, result.Most = append([]refreshedDocument{}, kept...), d.settings.Limits.RunMoney
	if err != nil || len(todo) == 0 {
		return result, err
	}
	survey, err := codemap.SurveyCommit(ctx, d.repo, d.head, nil)
	if err != nil {
		return result, err
	}
	if !o.DryRun {
		if err := c.CheckSandbox(!c.HasPerson()); err != nil {
			return result, err
		}
	}
	session, ctx, err := c.OpenAdhocSessions(ctx, d.settings, nexus.Documenter, provider.TrafficRecordingOptions{}, nil)
	if err != nil {
		return result, err
	}
	defer func() {
		result.Money = session.SpentMoney()
		session.Close(ctx)
	}()
	model, err := session.PickModel("")
	if err != nil {
		return result, err
	}
	result.Model = model.Name
	var jobs []codedoc.DocumentWritingJob
	for _, t := range todo {
		j, err := codedoc.PrepareDocumentJob(ctx, survey, d.head, t)
		if err != nil {
			return result, err
		}
		price := model.Price(nexus.Usage{Input: j.EstimateInputTokens(), Output: codedoc.Output}, llm.BillingTerms{})
		m := refreshedDocument{Name: t.Name, State: "planned", Tokens: j.EstimateInputTokens(), Price: price}
		jobs, result.Documents = append(jobs, j), append(result.Documents, m)
		c.Say("%s", view.EscapeForTerminal(costText(m, result)))
	}
	if o.DryRun {
		return result, nil
	}
	for i, j := range jobs {
		file, err := d.writeDocument(ctx, o, session, survey, j)
		if err != nil {
			return result, err
		}
		m := &result.Documents[len(kept)+i]
		m.State, m.File = "written", file
		c.Say("%s", file)
	}
	return result, nil
}

// costText formats the estimated cost of a document.
func costText(m refreshedDocument, o refreshResult) string {
	price := "at an unknown price"
	if m.Price > 0 {
		price = "about " + m.Price.String()
	}
	return fmt.Sprintf("%s: reads about %s tokens with %s, %s; all of them together at most %s",
		m.Name, view.FormatNumber(m.Tokens), o.Model, price, o.Most)
}

// writeDocument lets a model write one document, and returns its file.
func (d docsRepository) writeDocument(
	ctx context.Context, o *RefreshOptions, session *app.AdhocSessionRunner, survey *codemap.CommitSurvey, j codedoc.DocumentWritingJob,
) (string, error) {
	doc, err := codedoc.MakeDocument(ctx, survey, j, func(ctx context.Context, id nexus.SessionID, text string) (json.RawMessage, error) {
		said, err := session.Ask(ctx, app.AdhocSessionRequest{Session: id, Dir: d.repo.Work, Text: text, Handin: codedoc.SubmissionSchema()})
		if err == nil && said.Outcome != nexus.Accepted {
			code := nexus.CodeNothingProposed
			switch said.Outcome {
			case nexus.Exhausted:
				code = nexus.CodeLimit
			case nexus.Refused:
				code = nexus.CodeBudget
			default:
			}
			err = &nexus.Error{
				Code: code, Message: fmt.Sprintf("no document %s: %s: %s", j.Topic.Name, said.Outcome, said.Why),
				Hint: "Finished documents are kept. Try again with a higher limit or another model: only the rest is written.",
			}
		}
		return said.Handin, err
	})
	if err != nil {
		return "", err
	}
	if err := d.checkUnchanged(j.Topic.Name); err != nil && !o.Force {
		return "", err
	}
	doc.Text, doc.Made = o.Console.Mask.MaskText(doc.Text), o.Console.Now().UTC().Format(time.DateOnly)
	return d.store.WriteDocument(doc)
}

// checkUnchanged returns an error if a person wrote or edited the document since the last check.
func (d docsRepository) checkUnchanged(name string) error {
	docs, _, err := d.store.LoadDocuments()
	if err != nil {
		return err
	}
	text := func(docs []codedoc.CodeDocument) string {
		i := slices.IndexFunc(docs, func(o codedoc.CodeDocument) bool { return o.Name == name })
		if i < 0 {
			return ""
		}
		return docs[i].Text
	}
	var were []codedoc.CodeDocument
	for _, r := range d.rows {
		were = append(were, r.CodeDocument)
	}
	if text(docs) == text(were) {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s/%s.md was edited meanwhile", codedoc.Dir, name),
		Hint: "It is kept as it is. Replace it with --force.",
	}
}

func drawOutcome(s view.OutputStyle, o refreshResult, dry bool) string {
	if len(o.Documents) == 0 {
		return "all documents are up to date\n"
	}
	var rows [][]string
	for _, m := range o.Documents {
		rows = append(rows, []string{m.State, m.Name, m.File + m.Why})
	}
	text := view.DrawTable(s, []string{"", "document", ""}, rows)
	if dry {
		return text
	}
	return text + fmt.Sprintf("%s. Read them, and commit them to share them.\n", o.Money)
}
