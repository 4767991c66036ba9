package page

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandoutput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Shelf is the list of all settings, or of those that match a search.
type Shelf struct {
	All    []commandoutput.Setting
	Query  string
	Diff   bool   // only changed settings
	Wrong  string // why they are unknown
	Editor Editor
}

// Group is the settings with the same key prefix.
type Group struct {
	Name string
	All  []commandoutput.Setting
	Open bool
}

// groups groups the settings by key prefix, those without a dot first. Matches of a search are
// unfolded, and so is the group of the edited setting.
func (s Shelf) groups() []Group {
	plain := Group{Name: "general"}
	var all []Group
	for _, v := range s.All {
		name, _, dotted := strings.Cut(v.Key, ".")
		g := &plain
		if dotted {
			at := slices.IndexFunc(all, func(g Group) bool { return g.Name == name })
			if at < 0 {
				at, all = len(all), append(all, Group{Name: name})
			}
			g = &all[at]
		}
		g.All = append(g.All, v)
		g.Open = g.Open || s.Query != "" || s.Diff || v.Key == s.Editor.Key
	}
	if len(plain.All) > 0 {
		all = slices.Insert(all, 0, plain)
	}
	return all
}

// says describes how many settings a group has, and how many are changed.
func (g Group) says() string {
	set := 0
	for _, v := range g.All {
		if v.From != "default" {
			set++
		}
	}
	text := plural(len(g.All), "setting")
	if set > 0 {
		text += ", " + number(set) + " set by somebody"
	}
	return text
}

// Editor is one setting that a person views and changes.
type Editor struct {
	commandoutput.Explained

	Name    string `json:"-"` // the requested name; empty: none
	Typed   string `json:"-"` // the typed value
	Project bool   `json:"-"` // in the project's file
	Wrong   string `json:"-"` // why the change failed
	Weighs  bool   `json:"-"` // the change needs a person's agreement; Wrong describes to what
	Remove  bool   `json:"-"` // the agreement is about removing it
}

// May reports whether a person may agree to the access that a setting opens: only the person who
// started the server, because the setting may run programs on their machine.
func (e Editor) May(p access.Person) bool { return p.Name == access.Owner }

// field returns the value in the form.
func (e Editor) field() string {
	text := cmp.Or(e.Typed, e.Value)
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// title returns the name of the setting.
func (e Editor) title() string { return cmp.Or(e.Key, e.Name) }

func orNone(text string) string { return cmp.Or(text, "none") }

func settingPath(key string) string { return "/settings?" + url.Values{"key": {key}}.Encode() }

func (s *Site) settings(r *http.Request) (templ.Component, error) {
	return s.shelf(r, Editor{Name: strings.TrimSpace(r.URL.Query().Get("key"))})
}

// shelf draws the settings, with the edited one.
func (s *Site) shelf(r *http.Request, e Editor) (templ.Component, error) {
	f, err := s.frame(r, "settings", "Settings", nil)
	f.Live = false
	q := r.URL.Query()
	shelf := Shelf{Query: q.Get("q"), Diff: q.Get("diff") != "", Editor: e}
	args := []string{"config", "--json"}
	if shelf.Diff {
		args = append(args, "--diff")
	}
	var got commandoutput.Settings
	shelf.Wrong = s.run(r.Context(), args...).Read(&got)
	for _, v := range got.Settings {
		if has(shelf.Query, v.Key, v.Value, v.From, v.Where) {
			shelf.All = append(shelf.All, v)
		}
	}
	if e.Name != "" {
		if why := s.run(r.Context(), "config", "get", "--json", "--", e.Name).Read(&shelf.Editor); why != "" {
			shelf.Editor.Wrong = cmp.Or(e.Wrong, why)
		}
		if shelf.Editor.Where != "" && e.Wrong == "" {
			shelf.Editor.Project = shelf.Editor.From == "project"
		}
	}
	return settingsScreen(f, shelf), err
}

// set changes a setting in one of the two files, as nexus config set does.
func (s *Site) set(w http.ResponseWriter, r *http.Request) {
	in, ok := form(w, r)
	if !ok {
		return
	}
	e := Editor{
		Name: strings.TrimSpace(in.Get("key")), Typed: strings.TrimSpace(in.Get("value")),
		Project: in.Get("file") == "project", Remove: in.Get("do") == "unset",
	}
	args := []string{"config", "set"}
	if e.Remove {
		args = []string{"config", "unset"}
	}
	if e.Project {
		args = append(args, "--project")
	}
	if in.Get("agree") == "yes" && e.May(access.From(r.Context())) {
		args = append(args, "--yes")
	}
	if args = append(args, "--", e.Name); !e.Remove {
		args = append(args, e.Typed)
	}
	result := s.run(r.Context(), args...)
	if !result.Failed() {
		said := ActionResult{Text: strings.TrimSpace(result.Text), at: s.Now()}
		http.Redirect(w, r, s.back(settingPath(e.Name), s.said.put(said)), http.StatusSeeOther)
		return
	}
	e.Wrong, e.Weighs = strings.TrimSpace(result.Text+"\n"+result.Hint), result.Code == string(nexus.CodeNeedsPerson)
	if e.Weighs {
		e.Wrong = strings.TrimSpace(result.Text) // the hint is for users of the command line
	}
	s.show(func(r *http.Request) (templ.Component, error) { return s.shelf(r, e) }).ServeHTTP(w, r)
}
