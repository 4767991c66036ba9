package page

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"os"
	"testing"
)

// TestFiles holds that each file that a page loads arrives as it is in static, compressed
// only for clients that accept it.
func TestFiles(t *testing.T) {
	s := NewPages(PageHandlers{}.WebBackend, nil)
	for name := range s.sums {
		want, err := os.ReadFile("static/" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		for takes, packs := range map[string]bool{"": false, "br": false, "gzip;q=0": false, "gzip, deflate, br, zstd": true} {
			r := httptest.NewRequest("GET", "/static/"+name, nil)
			r.SetPathValue("name", name)
			r.Header.Set("Accept-Encoding", takes)
			w := httptest.NewRecorder()
			s.serveAsset(w, r)
			body := io.Reader(w.Body)
			if packs != (w.Header().Get("Content-Encoding") == "gzip") {
				t.Errorf("%s for %q: %v", name, takes, w.Header())
			} else if packs {
				if body, err = gzip.NewReader(w.Body); err != nil {
					t.Error(err)
					continue
				}
			}
			if got, err := io.ReadAll(body); err != nil || string(got) != string(want) || w.Header().Get("Vary") == "" {
				t.Errorf("%s for %q is %d bytes of %d, %v", name, takes, len(got), len(want), err)
			}
		}
	}
	if len(s.sums) < 6 {
		t.Errorf("%d files", len(s.sums))
	}
}
