package providerhttp_test

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

func events(t *testing.T, stream string, one bool) []string {
	t.Helper()
	var r interface{ Read([]byte) (int, error) } = strings.NewReader(stream)
	if one {
		r = iotest.OneByteReader(r)
	}
	var got []string
	e := providerhttp.NewServerEventReader(r)
	for e.Next() {
		got = append(got, e.Name()+"|"+string(e.Data()))
	}
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"plain":         {"data: a\n\ndata:b\n\n", []string{"|a", "|b"}},
		"named":         {"event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		"CRLF":          {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
		"CR":            {"data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		"comments":      {": hi\n\n:\ndata: a\n: x\n\n", []string{"|a"}},
		"fields":        {"id: 1\nretry: 5\nnovel: z\nlonely\ndata: a\n\n", []string{"|a"}},
		"several lines": {"data: a\ndata:  b\ndata\n\n", []string{"|a\n b\n"}},
		"no data":       {"event: x\n\ndata: a\n\n", []string{"|a"}},
		"a mark":        {"\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		"cut":           {"data: a\n\ndata: b", []string{"|a", "|b"}},
		"nothing":       {"", nil},
		"only ends":     {"\n\r\n\r", nil},
	} {
		for _, one := range []bool{false, true} {
			if diff := cmp.Diff(c.want, events(t, c.stream, one)); diff != "" {
				t.Errorf("%s %t: %s", name, one, diff)
			}
		}
	}
	long := strings.Repeat("x", 5<<20)
	if got := events(t, "data: "+long+"\n\n", false); len(got) != 1 || got[0] != "|"+long {
		t.Error("a long line is lost")
	}
}

// FuzzEvents checks that how a stream arrives changes nothing.
func FuzzEvents(f *testing.F) {
	f.Add("event: x\r\ndata: a\n\n")
	f.Add("data: a\r")
	f.Fuzz(func(t *testing.T, stream string) {
		if diff := cmp.Diff(events(t, stream, false), events(t, stream, true)); diff != "" {
			t.Error(diff)
		}
	})
}
