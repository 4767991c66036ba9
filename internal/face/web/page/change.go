package page

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view/highlight"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Change is what a task changed.
type Change struct {
	From, To       string
	Files          []highlight.File
	Added, Deleted int
	Why            string // there is nothing to show
}

func (s *Site) diff(r *http.Request) (templ.Component, error) {
	id := nexus.TaskID(r.PathValue("task"))
	var title string
	f, err := s.frame(r, "task", string(id)+" diff", func(p *projection.Projection, f *Frame) error {
		t, ok := p.Task(id, f.Now)
		if !ok {
			return missing("task", string(id))
		}
		title = t.Title
		return nil
	})
	if err != nil {
		return nil, err
	}
	return diffScreen(f, id, title, s.change(r, f.Run.ID, id)), nil
}

// change reads what a task changed, as nexus diff prints it.
func (s *Site) change(r *http.Request, run nexus.RunID, id nexus.TaskID) Change {
	result := s.run(r.Context(), "diff", "--run", string(run), "--json", "--", string(id))
	var got struct{ From, To, Diff string }
	if result.Failed() {
		return Change{Why: cmp.Or(result.Text, "There is none.") + " " + result.Hint}
	}
	if err := json.Unmarshal(result.Data, &got); err != nil {
		return Change{Why: "The diff cannot be read: " + err.Error()}
	}
	if got.Diff == "" {
		return Change{Why: "The task has changed no file yet."}
	}
	c := Change{From: got.From, To: got.To, Files: highlight.Diff(got.Diff)}
	for _, x := range c.Files {
		c.Added, c.Deleted = c.Added+x.Added, c.Deleted+x.Deleted
	}
	return c
}
