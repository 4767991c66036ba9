package attempt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// guidanceTexts returns people's guidance to the writers, each once, oldest first: a verifier
// checks the work against it as against the task's criteria. Answers to questions are part of
// the work already.
func (w *attemptWork) guidanceTexts() []string {
	var all []string
	add := func(text string) {
		if text = oneLine(text); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, said := range w.view.Said {
		if said.Seq != 0 {
			add(strings.TrimPrefix(said.About+": "+said.Text, ": "))
		}
	}
	for _, text := range w.guided {
		add(text)
	}
	return all
}

// collectGuidance stores a person's guidance while this process works on the attempt. Earlier
// guidance is in its view.
func (w *attemptWork) collectGuidance(f nexus.Fact) error {
	sent, ok := f.(nexus.PromptSent)
	if !ok || sent.Request == 0 {
		return nil
	}
	said, err := agent.LoadMessages(w.Worker.Site.Blobs, []string{sent.Message})
	if err != nil {
		return fmt.Errorf("read what a person said: %w", err)
	}
	for _, m := range said {
		if text := landingupdates.ParseGuidance(m.Text(), sent.Why); text != "" {
			w.guided = append(w.guided, text)
		}
	}
	return nil
}

// verifierCriteria returns the criteria for a verifier: the task's criteria, and people's
// requests since the work began.
func (w *attemptWork) verifierCriteria() []nexus.Criterion {
	all := slices.Clone(w.task.Criteria)
	for _, text := range w.guidanceTexts() {
		all = append(all, nexus.Criterion{Text: prompt.AskedBy + text})
	}
	return all
}
