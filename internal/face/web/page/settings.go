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
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SettingsPage is the list of all settings, or of those that match a search.
type SettingsPage struct {
	All    []commandjson.ListedSetting
	Query  string
	Diff   bool   // only changed settings
	Wrong  string // why they are unknown
	Editor SettingEditorPage
}

// SettingGroup is the settings with the same key prefix.
type SettingGroup struct {
	Name string
	All  []commandjson.ListedSetting
	Open bool
}

// settingGroups groups the settings by key prefix, those without a dot first. Matches of a search are
// unfolded, and so is the group of the edited setting.
func (s SettingsPage) settingGroups() []SettingGroup {
	plain := SettingGroup{Name: "general"}
	var all []SettingGroup
	for _, v := range s.All {
		name, _, dotted := strings.Cut(v.Key, ".")
		g := &plain
		if dotted {
			at := slices.IndexFunc(all, func(g SettingGroup) bool { return g.Name == name })
			if at < 0 {
				at, all = len(all), append(all, SettingGroup{Name: name})
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

// countText describes how many settings a group has, and how many are changed.
func (g SettingGroup) countText() string {
	set := 0
	for _, v := range g.All {
		if v.From != "default" {
			set++
		}
	}
	text := countNoun(len(g.All), "setting")
	if set > 0 {
		text += ", " + formatInt(set) + " set by somebody"
	}
	return text
}

// SettingEditorPage is one setting that a person views and changes.
type SettingEditorPage struct {
	commandjson.SettingExplanation

	Name    string `json:"-"` // the requested name; empty: none
	Typed   string `json:"-"` // the typed value
	Project bool   `json:"-"` // in the project's file
	Wrong   string `json:"-"` // why the change failed
	Weighs  bool   `json:"-"` // the change needs a person's agreement; Wrong describes to what
	Remove  bool   `json:"-"` // the agreement is about removing it
}

// CanConfirm reports whether a person may agree to the access that a setting opens: only the person who
// started the server, because the setting may run programs on their machine.
func (e SettingEditorPage) CanConfirm(p access.TokenOwner) bool { return p.Name == access.Owner }

// inputValue returns the value in the form.
func (e SettingEditorPage) inputValue() string {
	text := cmp.Or(e.Typed, e.Value)
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// settingName returns the name of the setting.
func (e SettingEditorPage) settingName() string { return cmp.Or(e.Key, e.Name) }

func orNone(text string) string { return cmp.Or(text, "none") }

func settingPath(key string) string { return "/settings?" + url.Values{"key": {key}}.Encode() }

func (s *PageHandlers) settingsPage(r *http.Request) (templ.Component, error) {
	return s.drawSettings(r, SettingEditorPage{Name: strings.TrimSpace(r.URL.Query().Get("key"))})
}

// drawSettings draws the settings, with the edited one.
func (s *PageHandlers) drawSettings(r *http.Request, e SettingEditorPage) (templ.Component, error) {
	f, err := s.newFrame(r, "settings", "Settings", nil)
	f.Live = false
	q := r.URL.Query()
	shelf := SettingsPage{Query: q.Get("q"), Diff: q.Get("diff") != "", Editor: e}
	args := []string{"config", "--json"}
	if shelf.Diff {
		args = append(args, "--diff")
	}
	var got commandjson.ConfigOutput
	shelf.Wrong = s.runCommand(r.Context(), args...).Read(&got)
	for _, v := range got.Settings {
		if containsQuery(shelf.Query, v.Key, v.Value, v.From, v.Where) {
			shelf.All = append(shelf.All, v)
		}
	}
	if e.Name != "" {
		if why := s.runCommand(r.Context(), "config", "get", "--json", "--", e.Name).Read(&shelf.Editor); why != "" {
			shelf.Editor.Wrong = cmp.Or(e.Wrong, why)
		}
		if shelf.Editor.Where != "" && e.Wrong == "" {
			shelf.Editor.Project = shelf.Editor.From == "project"
		}
	}
	return settingsScreen(f, shelf), err
}

// changeSetting changes a setting in one of the two files, as nexus config set does.
func (s *PageHandlers) changeSetting(w http.ResponseWriter, r *http.Request) {
	in, ok := readForm(w, r)
	if !ok {
		return
	}
	e := SettingEditorPage{
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
	if in.Get("agree") == "yes" && e.CanConfirm(access.PersonFrom(r.Context())) {
		args = append(args, "--yes")
	}
	if args = append(args, "--", e.Name); !e.Remove {
		args = append(args, e.Typed)
	}
	result := s.runCommand(r.Context(), args...)
	if !result.Failed() {
		said := ActionResult{Text: strings.TrimSpace(result.Text), at: s.Now()}
		http.Redirect(w, r, s.returnURL(settingPath(e.Name), s.said.storeResult(said)), http.StatusSeeOther)
		return
	}
	e.Wrong, e.Weighs = strings.TrimSpace(result.Text+"\n"+result.Hint), result.Code == string(nexus.CodeNeedsPerson)
	if e.Weighs {
		e.Wrong = strings.TrimSpace(result.Text) // the hint is for users of the command line
	}
	s.screenHandler(func(r *http.Request) (templ.Component, error) { return s.drawSettings(r, e) }).ServeHTTP(w, r)
}
