package web

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/web/api"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
)

// prints is what a command prints with --json, each of its texts as somebody may write
// it who means no good.
func prints(t *testing.T, args []string) json.RawMessage {
	t.Helper()
	if !slices.Contains(args, "--json") {
		return nil
	}
	name := args[0]
	if name == "status" || name == "runs" {
		name += " " + args[1]
	}
	object := map[string]any{
		"review": new(changereview.TaskChangeReview), "status --report": new(runreport.Report), "runs --stats": new(runhistory.RunHistoryStatistics), "plan": new(api.PlanChanges),
		"memory": new(commandjson.MemoryListOutput), "rules": new(commandjson.RulesOutput), "models": new(commandjson.ModelsOutput), "doctor": new(commandjson.DoctorOutput), "config": new(commandjson.ConfigOutput),
		"check": &map[string]string{"state": hostile},
	}[name]
	if args[0] == "config" && args[1] == "get" {
		object = new(commandjson.SettingExplanation)
	}
	if object == nil {
		return nil
	}
	hostiletest.FillFields(object, hostile)
	if compared, ok := object.(*api.PlanChanges); ok && len(compared.Changes) == 0 {
		compared.Changes = []plandiff.TaskChange{{Title: hostile}}
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Error(err)
	}
	return data
}

// shown is what a page says: its text, and the attributes that people read. Others, such
// as the value of a hidden field, have to be exact.
func shown(t *testing.T, page string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Error(err)
		return page
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + "\n")
		}
		for _, a := range n.Attr {
			if slices.Contains([]string{"title", "alt", "aria-label", "placeholder", "content"}, a.Key) {
				b.WriteString(a.Val + "\n")
			}
		}
	}
	return b.String()
}
