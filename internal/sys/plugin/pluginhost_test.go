package plugin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
)

// TestHost asks a plugin that broke down no more, one that only had no answer
// again, and takes no missing answer of one that is required.
func TestHost(t *testing.T) {
	const loop = `id=0; while read -r l; do id=$((id+1)); `
	broken, refuses := script(`exit 3`), script(hello+loop+`echo '{"type":"error","id":'$id',"message":"no"}'; done`)
	broken.Name, refuses.Name = "broken", "refuses"
	coders := script(`read -r l; echo '{"type":"hello","protocol":1,"name":"c","version":"1","kinds":["router"],"capabilities":{"roles":["coder"]}}'; ` +
		loop + `echo '{"type":"answer","id":'$id',"output":{"complexity":"simple"}}'; done`)
	coders.Name = "coders"
	h := &plugin.PluginHost{Plugins: []plugin.DeclaredPlugin{broken, refuses, coders}, Runner: runner(t), Now: time.Now}
	ask := func(p plugin.DeclaredPlugin, roles ...nexus.Role) (states []nexus.PluginAnswerState, err error) {
		t.Helper()
		var all []plugin.HostQuestion
		for _, r := range roles {
			all = append(all, plugin.HostQuestion{Input: plugin.RouterInput{}, Output: &plugin.RouterOutput{}, For: r})
		}
		answers, err := h.AskPlugin(t.Context(), p, nexus.PluginRouter, all)
		for _, a := range answers {
			states = append(states, a.State)
		}
		return states, err
	}
	for _, c := range []struct {
		plugin plugin.DeclaredPlugin
		roles  []nexus.Role
		want   []nexus.PluginAnswerState
	}{
		{broken, []nexus.Role{"", ""}, []nexus.PluginAnswerState{nexus.PluginEnded}},
		{broken, []nexus.Role{""}, nil},
		{refuses, []nexus.Role{"", ""}, []nexus.PluginAnswerState{nexus.PluginFailed, nexus.PluginFailed}},
		{refuses, []nexus.Role{""}, []nexus.PluginAnswerState{nexus.PluginFailed}},
		{coders, []nexus.Role{nexus.Tester, nexus.Coder}, []nexus.PluginAnswerState{"", nexus.PluginOK}},
		{coders, nil, nil},
	} {
		got, err := ask(c.plugin, c.roles...)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.plugin.Name, err, d)
		}
	}
	broken.Required, refuses.Required, coders.Required = true, true, true
	for _, p := range []plugin.DeclaredPlugin{broken, refuses} { // broken is not even started again
		if _, err := ask(p, ""); !errors.Is(err, &nexus.Error{Code: nexus.CodePlugin}) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := ask(coders, nexus.Coder); err != nil {
		t.Error(err)
	}
	if none := (*plugin.PluginHost)(nil); none.PluginsOfKind(nexus.PluginRouter) != nil || len(h.PluginsOfKind(nexus.PluginReviewer)) != 0 || len(h.PluginsOfKind(nexus.PluginRouter)) != 3 {
		t.Error("plugins of other kinds are asked")
	}
}

// TestWhole ends a plugin that answers each question in time, and all of them too
// late: what it said until then counts.
func TestWhole(t *testing.T) {
	steady := script(`read -r l; echo '{"type":"hello","protocol":1,"name":"s","version":"1","kinds":["router"]}'; id=0; ` +
		`while read -r l; do id=$((id+1)); sleep 0.05; echo '{"type":"answer","id":'$id',"output":{"complexity":"simple"}}'; done`)
	steady.Timeout = time.Second
	h := &plugin.PluginHost{Plugins: []plugin.DeclaredPlugin{steady}, Runner: runner(t), Now: time.Now, Whole: 1200 * time.Millisecond}
	all := make([]plugin.HostQuestion, 200)
	for i := range all {
		all[i] = plugin.HostQuestion{Input: plugin.RouterInput{}, Output: &plugin.RouterOutput{}}
	}
	answers, err := h.AskPlugin(t.Context(), steady, nexus.PluginRouter, all)
	if err != nil || len(answers) < 2 || len(answers) == len(all) {
		t.Fatal(len(answers), err)
	}
	last := answers[len(answers)-1]
	if answers[0].State != nexus.PluginOK || last.State != nexus.PluginTimeout || !strings.Contains(last.Why, "killed after 1.2s, at question ") {
		t.Errorf("%+v, %+v", answers[0], last)
	}
	steady.Required = true
	if _, err := h.AskPlugin(t.Context(), steady, nexus.PluginRouter, all); !errors.Is(err, &nexus.Error{Code: nexus.CodePlugin}) {
		t.Errorf("required: %v", err)
	}
}
