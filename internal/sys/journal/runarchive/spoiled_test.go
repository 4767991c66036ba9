package runarchive_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/runarchive"
)

// archive makes a file with a manifest and lines of events, whose digest is right.
func archive(t *testing.T, events string, spoil func(*runarchive.RunArchiveManifest)) []byte {
	t.Helper()
	sum := sha256.Sum256([]byte(events))
	m := runarchive.RunArchiveManifest{
		Format: runarchive.Format, Run: "261121-104125-k3f", Base: strings.Repeat("a", 40), Events: strings.Count(events, "\n"),
		Digest: hex.EncodeToString(sum[:]), Refs: map[string]string{"refs/nexus/261121-104125-k3f/train": strings.Repeat("b", 40)},
	}
	spoil(&m)
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name string
		text []byte
	}{{"manifest.json", manifest}, {"events.jsonl", []byte(events)}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSpoiled takes a file for whole only where its manifest names a run, a commit and refs
// of that run alone, and its events are in order; one of a newer program is told apart.
func TestSpoiled(t *testing.T) {
	const first, second = `{"seq":3,"at":"2026-11-21T10:41:25Z","kind":"run.paused","data":{}}` + "\n", `{"seq":9,"at":"2026-11-21T10:41:26Z","kind":"run.ended","data":{}}` + "\n"
	nothing := func(*runarchive.RunArchiveManifest) {}
	refs := func(ref, commit string) func(*runarchive.RunArchiveManifest) {
		return func(m *runarchive.RunArchiveManifest) { m.Refs = map[string]string{ref: commit} }
	}
	commit := strings.Repeat("b", 40)
	for name, one := range map[string]struct {
		events string
		spoil  func(*runarchive.RunArchiveManifest)
		code   nexus.ErrorCode
		want   string
	}{
		"whole":                      {first + second, nothing, "", ""},
		"whole, from number one":     {strings.Replace(first, ":3,", ":1,", 1) + second, nothing, "", ""},
		"a format of later":          {first, func(m *runarchive.RunArchiveManifest) { m.Format = runarchive.Format + 1 }, nexus.CodeJournalNewer, "reads up to 1"},
		"no format":                  {first, func(m *runarchive.RunArchiveManifest) { m.Format = 0 }, nexus.CodeInvalidInput, "names no format"},
		"a format below all":         {first, func(m *runarchive.RunArchiveManifest) { m.Format = -1 }, nexus.CodeInvalidInput, "names no format"},
		"a run that leads elsewhere": {first, func(m *runarchive.RunArchiveManifest) { m.Run = "../x" }, nexus.CodeInvalidInput, "no proper name"},
		"a base that is an option":   {first, func(m *runarchive.RunArchiveManifest) { m.Base = "--all" }, nexus.CodeInvalidInput, "base is no commit"},
		"a branch of the project":    {first, refs("refs/heads/main", commit), nexus.CodeInvalidInput, "not the run's own"},
		"a ref of another run":       {first, refs("refs/nexus/261121-104125-k3g/train", commit), nexus.CodeInvalidInput, "not the run's own"},
		"a ref without a name":       {first, refs("refs/nexus/261121-104125-k3f/", commit), nexus.CodeInvalidInput, "not the run's own"},
		"a ref to no commit":         {first, refs("refs/nexus/261121-104125-k3f/train", "main"), nexus.CodeInvalidInput, "not the run's own"},
		"an event twice":             {first + first, nothing, nexus.CodeInvalidInput, "event 2 is out of order"},
		"an event before another":    {second + first, nothing, nexus.CodeInvalidInput, "event 2 is out of order"},
		"an event before the first":  {strings.Replace(first, ":3,", ":0,", 1), nothing, nexus.CodeInvalidInput, "event 1 is out of order"},
		"an event that is cut":       {first + second[:20] + "\n", nothing, nexus.CodeInvalidInput, "event 2 is not JSON"},
		"an event less":              {first, func(m *runarchive.RunArchiveManifest) { m.Events = 2 }, nexus.CodeInvalidInput, ""},
		"other events":               {first, func(m *runarchive.RunArchiveManifest) { m.Digest = strings.Repeat("0", 64) }, nexus.CodeInvalidInput, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := runarchive.OpenPack(bytes.NewReader(archive(t, one.events, one.spoil)))
			if one.code == "" {
				if err != nil || len(p.Events) != 2 || p.Manifest.Run != "261121-104125-k3f" {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != one.code || !strings.Contains(e.Message, one.want) {
				t.Errorf("%v, want %s with %q", err, one.code, one.want)
			}
		})
	}
}
