package hostiletest_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/taskdetail"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

func filled[T any]() T {
	var v T
	hostiletest.FillFields(&v, hostiletest.HostileText())
	return v
}

// TestNothingDrawnIsObeyed draws what people read of a task, a change, a
// conversation and gates, with hostile text in every field.
func TestNothingDrawnIsObeyed(t *testing.T) {
	for _, s := range []view.OutputStyle{{Plain: true}, {Width: 60, Height: 24}, {ASCII: true, Width: 120}} {
		for name, text := range map[string]string{
			"detail": taskdetail.DrawTaskDetail(s, filled[taskdetail.TaskDetail]()), "review": changereview.DrawReview(s, filled[changereview.TaskChangeReview](), true),
			"since": changereview.DrawChangesSinceReview(s, filled[changereview.TaskChangeReview]()), "conversation": filled[transcript.ConversationTranscript]().Draw(s),
			"verdict": verdict.DrawVerdict(s, filled[verdict.TreeVerdict]()), "going": view.DrawUnfinishedRuns(s, filled[[]view.UnfinishedRunRow](), true),
			"quality": runquality.HeadText(filled[runquality.RunQuality]()) + runquality.FiguresText(filled[runquality.RunQuality]()),
		} {
			if len(text) < 20 && name != "since" {
				t.Errorf("%s draws %q", name, text)
			}
			if bad := hostiletest.ObeyedPart(text); bad != "" {
				t.Errorf("%s: %q", name, bad)
			}
		}
	}
}

// TestObeyed shows what counts as obeyed.
func TestObeyed(t *testing.T) {
	for _, text := range []string{"\x1b[2J", "a\u202eb", "\u009b31m", "\x07", "a\rb", "\u200b", "\U000e0041"} {
		if hostiletest.ObeyedPart(text) == "" {
			t.Errorf("%q is obeyed", text)
		}
	}
	if bad := hostiletest.ObeyedPart("plain \u00e4 \u4e16\ttext\r\nand more\n"); bad != "" {
		t.Errorf("%q", bad)
	}
	if !strings.Contains(hostiletest.HostileText(), "<script>") {
		t.Error("the text has no markup")
	}
}
