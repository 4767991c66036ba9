package web

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestTheDoorIsReadable holds that who comes without a token is told where there is one,
// on a page whose style the policy lets a browser use, and can enter it there.
func TestTheDoorIsReadable(t *testing.T) {
	w := openWhole(t, Options{})
	resp, err := http.Get(w.s.Address() + "/runs")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	style := regexp.MustCompile(`<style>([^<]+)</style>`).FindStringSubmatch(page)
	if resp.StatusCode != http.StatusUnauthorized || style == nil {
		t.Fatalf("%d: the page has no style:\n%s", resp.StatusCode, page)
	}
	sum := sha256.Sum256([]byte(style[1]))
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("a browser may not use the style: %s", csp)
	}
	for _, want := range []string{"nexus serve prints an address", "/?token=TOKEN", "nexus serve token add", "<input name=token"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}
