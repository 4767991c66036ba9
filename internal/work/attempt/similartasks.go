package attempt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// similarTaskFiles returns a text about the files that similar earlier tasks read and changed,
// as the run learned when it began. It names only files that exist at the start of the attempt
// and that agents may see.
func (w *attemptWork) similarTaskFiles(ctx context.Context) (string, error) {
	l := w.view.Goal.Routing.Lessons
	if l == nil {
		return "", nil
	}
	changed, read := lessons.CompanionFilesOf(l.Touched, w.task.Files), lessons.CompanionFilesOf(l.Read, w.task.Files)
	var files []string
	for _, f := range slices.Concat(changed, read) {
		files = append(files, f.File)
	}
	there, err := w.Worker.Sessions.Maps.VisibleFiles(ctx, w.Worker.Trees.PrivateRepo(), cmp.Or(w.a.Start, w.a.Base), files)
	if err != nil {
		return "", err
	}
	var lines []string
	say := func(all []nexus.RelatedFileLesson, did string) {
		for _, f := range all {
			if slices.Contains(there, f.File) {
				lines = append(lines, fmt.Sprintf("- %s: %s by %d of %d tasks that declare %s", prompt.InlineCode(f.File), did, f.Cases, f.Tasks, prompt.InlineCode(f.Of)))
			}
		}
	}
	say(changed, "changed")
	say(read, "read first")
	return strings.Join(lines, "\n"), nil
}
