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

// Shelf is all settings, or those that somebody looks for.
type Shelf struct {
	All    []commandoutput.Setting
	Query  string
	Diff   bool   // only those that somebody set
	Wrong  string // why they are not known
	Editor Editor
}

// Group is settings whose keys begin alike.
type Group struct {
	Name string
	All  []commandoutput.Setting
	Open bool
}

// groups are the settings by what their keys begin with, those without a dot
// first. What somebody looks for is unfolded, and so is the group of the setting
// that they change.
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

// says tells how many settings a group has, and how many somebody set.
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

// Editor is one setting that somebody looks at and changes.
type Editor struct {
	commandoutput.Explained

	Name    string `json:"-"` // as it was asked for; empty: none was
	Typed   string `json:"-"` // what somebody wants it to be
	Project bool   `json:"-"` // in the project's file
	Wrong   string `json:"-"` // why it was not done
	Weighs  bool   `json:"-"` // it was not done as a person must agree first; Wrong says to what
	Remove  bool   `json:"-"` // what they must agree to is that it goes away
}

// May says whether a person may agree to what a setting opens: who started the
// server alone, as that may run programs on their machine.
func (e Editor) May(p access.Person) bool { return p.Name == access.Owner }

// field is what the form has as the value.
func (e Editor) field() string {
	text := cmp.Or(e.Typed, e.Value)
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// title names the setting.
func (e Editor) title() string { return cmp.Or(e.Key, e.Name) }

func orNone(text string) string { return cmp.Or(text, "none") }

func settingPath(key string) string { return "/settings?" + url.Values{"key": {key}}.Encode() }

func (s *Site) settings(r *http.Request) (templ.Component, error) {
	return s.shelf(r, Editor{Name: strings.TrimSpace(r.URL.Query().Get("key"))})
}

// shelf draws the settings, with the one that somebody changes.
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
		e.Wrong = strings.TrimSpace(result.Text) // the hint is for who types it
	}
	s.show(func(r *http.Request) (templ.Component, error) { return s.shelf(r, e) }).ServeHTTP(w, r)
}
