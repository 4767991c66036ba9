package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/page"
)

// TestDeafPages drops a page that takes nothing of what it listens to, whatever the clock
// of the site says, and serves one that does for as long as it likes.
func TestDeafPages(t *testing.T) {
	for name, clock := range map[string]func() time.Time{"now": time.Now, "long ago": func() time.Time { return time.Unix(1, 0) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var live http.Handler
				for _, r := range page.NewPages(access.WebBackend{Hub: &projectionhub.ProjectionHub{}, Now: clock}, nil).Routes() {
					if r.Pattern == "/live" {
						live = r.Handler
					}
				}
				done := make(chan bool)
				s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					rc := http.NewResponseController(w) // as for all that listen
					if err := errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})); err != nil {
						t.Error(err)
					}
					live.ServeHTTP(w, r)
					close(done)
				}))
				l := make(pipes)
				ended := make(chan error)
				go func() { ended <- s.Serve(l) }()
				client, server := net.Pipe()
				l <- server
				if _, err := io.WriteString(client, "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				in := bufio.NewReaderSize(client, 16)
				for told, began := 0, time.Now(); told < 10; {
					line, err := in.ReadString('\n')
					if err != nil {
						t.Fatalf("a page that listens is dropped after %s: %v", time.Since(began), err)
					}
					if strings.HasPrefix(line, "event: changed") {
						told++
					}
				}
				deaf := time.Now()
				select {
				case <-done:
				case <-time.After(time.Hour):
					t.Error("a page that takes nothing is still served")
				}
				if took := time.Since(deaf); took > 26*time.Second {
					t.Errorf("it is dropped after %s", took)
				}
				_ = client.Close()
				close(l)
				<-ended
				_ = s.Close()
			})
		})
	}
}
