package journalcmd

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// journalCopyResult is the JSON output of `journal backup`, `repair` and `restore`.
type journalCopyResult struct {
	Path   string `json:"path"`            // of the written journal
	Events int64  `json:"events"`          // in it
	Blobs  int    `json:"blobs,omitzero"`  // beside it
	Aside  string `json:"aside,omitzero"`  // location of the replaced journal
	Why    string `json:"why,omitzero"`    // what was wrong with the replaced journal
	Whole  bool   `json:"whole,omitzero"`  // the journal was intact and stays as it is
	Absent int    `json:"absent,omitzero"` // blobs that events name and that are missing

	Lost []journal.LostRunEvents `json:"lost,omitempty"` // events after the damage, by run
}

func (k journalCopyResult) draw(s view.OutputStyle) string {
	if k.Whole {
		return fmt.Sprintf("%s: %s; nothing was changed\n", s.Good("sound"), view.CountWithNoun(int(k.Events), "event"))
	}
	text := fmt.Sprintf("the journal with %s is at %s\n", view.CountWithNoun(int(k.Events), "event"), view.EscapeForTerminal(k.Path))
	if k.Blobs > 0 {
		text += fmt.Sprintf("%s beside it\n", view.CountWithNoun(k.Blobs, "blob"))
	}
	if k.Absent > 0 {
		text += s.Warn(view.CountWithNoun(k.Absent, "blob")+" that events name were not found") + "\n"
	}
	if k.Why != "" {
		text += "the damage: " + view.EscapeForTerminal(k.Why) + "\n"
	}
	for _, l := range k.Lost {
		text += s.Warn(fmt.Sprintf("lost of run %s: %s, %d to %d", l.Run, view.CountWithNoun(l.Events, "event"), l.From, l.To)) + ": " +
			view.EscapeForTerminal(strings.Join(l.Kinds, ", ")) + "\n"
	}
	if k.Aside != "" {
		text += "the journal that was here is kept at " + view.EscapeForTerminal(k.Aside) + "\n"
	}
	return text
}

// copyBlobs copies the named blobs that are not in the journal itself.
func copyBlobs(shelf journal.SmallBlobStore, from *journal.BlobStore, dir string, named []string) (copied, absent int, err error) {
	to, err := journal.OpenBlobStore(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, hash := range named {
		if data, err := shelf.ReadSmallBlob(hash); err != nil || data != nil {
			if err != nil {
				return copied, absent, err
			}
			continue
		}
		data, err := from.Get(hash)
		if err != nil {
			absent++
			continue
		}
		if _, err := to.Put(data); err != nil {
			return copied, absent, err
		}
		copied++
	}
	return copied, absent, nil
}
