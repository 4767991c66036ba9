package web

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
)

// site is a page at work.
type site struct {
	t *testing.T
	j *questionruntest.InMemoryRunJournal
	s *Server
	c *http.Client // a browser that has not been here
}

func open(t *testing.T) *site {
	t.Helper()
	j := questionruntest.NewJournal(time.Now)
	j.AskQuestion("q1", humaninput.SecurityTrigger, "may it run <script>alert(1)</script>?")
	j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
	d, err := questionchannel.OpenInbox(t.Context(), j, j.IsConducted, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(t.Context(), d, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	questionruntest.RunAll(t, d.Follow, s.Serve)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &site{t, j, s, &http.Client{Jar: jar}}
}

// call makes a call, and returns its status and what came back.
func (s *site) call(method, path, body string, change func(*http.Request)) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.s.Address()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := s.c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// want makes a call and wants that status.
func (s *site) want(status int, method, path, body string, change func(*http.Request)) string {
	s.t.Helper()
	got, text := s.call(method, path, body, change)
	if got != status {
		s.t.Errorf("%s %s: %d, want %d: %s", method, path, got, status, text)
	}
	return text
}

// form makes a call one of a browser's form on a page of the server.
func (s *site) form(r *http.Request) {
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", s.s.Address())
}

func (s *site) program(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+s.s.Token)
	r.Header.Set("Content-Type", "application/json")
}

// TestStrangers keeps out pages of others: those that make a browser send
// something, those whose name leads here, and those that draw this one inside
// of theirs. A form of its own page is taken once.
func TestStrangers(t *testing.T) {
	w := openWhole(t, Options{})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, nil, w.s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	s.want(http.StatusUnauthorized, "GET", "/", "", nil)
	s.want(http.StatusUnauthorized, "GET", "/?token=guessed", "", nil)
	s.want(http.StatusSeeOther, "GET", "/?token="+s.s.Token, "", nil)
	page := s.want(http.StatusOK, "GET", "/", "", nil)
	if strings.Contains(page, s.s.Token) {
		t.Error("the page has the token")
	}
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)[1]
	fields := url.Values{"run": {"run1"}, "of": {"q1"}, "do": {"answer"}, "label": {"Answer"}, "input": {"yes"}, "back": {"/"}}
	s.want(http.StatusForbidden, "POST", "/act", fields.Encode(), s.form)
	fields.Set("csrf", csrf)
	body := fields.Encode()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.s.Address(), "http://"), ":")
	for name, change := range map[string]func(*http.Request){
		"another site, says the browser":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another site by its origin":      func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another port of this machine":    func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"no site at all":                  func(r *http.Request) { r.Header.Del("Origin") },
		"the right host by http or https": func(r *http.Request) { r.Header.Set("Origin", strings.Replace(s.s.Address(), "http", "https", 1)) },
		"a page of no origin":             func(r *http.Request) { r.Header.Set("Origin", "null") },
		"two origins":                     func(r *http.Request) { r.Header.Add("Origin", "http://evil.example") },
	} {
		t.Run(name, func(*testing.T) {
			s.want(http.StatusForbidden, "POST", "/act", body, func(r *http.Request) { s.form(r); change(r) })
		})
	}
	for _, host := range []string{"evil.example:" + port, "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:" + port} {
		s.want(http.StatusMisdirectedRequest, "GET", "/api/v1/pending", "", func(r *http.Request) { s.program(r); r.Host = host })
	}
	s.want(http.StatusOK, "GET", "/api/v1/pending", "", func(r *http.Request) { s.program(r); r.Host = "localhost:" + port })
	u, _ := url.Parse(s.s.Address())
	if n := len(s.c.Jar.Cookies(u)); n != 1 {
		t.Errorf("%d cookies", n)
	}
	if len(*w.did) != 0 {
		t.Errorf("done: %q", *w.did)
	}
	s.want(http.StatusSeeOther, "POST", "/act", body, s.form)
	if d := cmp.Diff([]string{"web: answer --run run1 -- q1 yes"}, *w.did); d != "" {
		t.Error(d)
	}
}

// TestInterface takes calls of programs that know the token, and only those.
func TestInterface(t *testing.T) {
	s := open(t)
	s.want(http.StatusUnauthorized, "GET", "/api/v1/pending", "", nil)
	s.call("GET", "/?token="+s.s.Token, "", nil)
	s.want(http.StatusOK, "GET", "/api/v1/pending", "", nil) // a browser that has the cookie
	text := s.want(http.StatusOK, "GET", "/api/v1/pending", "", s.program)
	for path, want := range map[string]string{"version": "1", "pending.#": "2", "pending.0.id": "q1", "pending.0.severity": "red", "pending.0.choices": `["yes","no"]`, "pending.1.trigger": "ambiguity", "pending.1.fallback": "as I think"} {
		if got := gjson.Get(text, path).String(); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	const good = `{"run": "r1", "id": "q1", "answer": "no: later"}`
	s.want(http.StatusUnsupportedMediaType, "POST", "/api/v1/answer", good, func(r *http.Request) { s.program(r); r.Header.Set("Content-Type", "text/plain") })
	s.want(http.StatusUnauthorized, "POST", "/api/v1/answer", good, func(r *http.Request) { s.program(r); r.Header.Set("Authorization", "Bearer "+s.s.Token[1:]) })
	for body, status := range map[string]int{
		`{"run": "r1"}`: 400, `[]`: 400, good + good: 400, `{"run": "r1", "id": "q1", "answer": "yes", "by": "root"}`: 400, "": 400,
		`{"run": "r1", "id": "q1", "answer": "perhaps"}`:                                         422,
		`{"run": "r1", "id": "q7", "answer": "yes"}`:                                             404,
		`{"run": "r1", "id": "q1", "answer": "` + strings.Repeat("y", access.DefaultBody) + `"}`: 413,
	} {
		s.want(status, "POST", "/api/v1/answer", body, s.program)
	}
	if text := s.want(http.StatusOK, "POST", "/api/v1/answer", good, s.program); gjson.Get(text, "result").String() != "taken" {
		t.Error(text)
	}
	s.want(http.StatusConflict, "POST", "/api/v1/answer", good, s.program)
	s.want(http.StatusMethodNotAllowed, "GET", "/api/v1/answer", "", s.program)
	s.want(http.StatusNotFound, "GET", "/etc/passwd", "", s.program)
	if d := cmp.Diff([]string{"q1 by web: no: later"}, s.j.Answers()); d != "" {
		t.Error(d)
	}
}

// TestRefusedWhileItWrites refuses calls whose bodies no route reads, or not to
// their end. The body is read nevertheless, so that the client gets the answer.
func TestRefusedWhileItWrites(t *testing.T) {
	s := open(t)
	for kind, want := range map[string]int{"application/json": http.StatusRequestEntityTooLarge, "text/plain": http.StatusUnsupportedMediaType} {
		body := strings.NewReader(`{"run": "` + strings.Repeat("y", 2*access.DefaultBody) + `"}`)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.s.Address()+"/api/v1/answer", body)
		s.program(r)
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.s.newHandler().ServeHTTP(w, r)
		if w.Code != want || body.Len() > 0 {
			t.Errorf("%s: %d, want %d, and %d bytes were not read: %s", kind, w.Code, want, body.Len(), w.Body)
		}
	}
}

// TestListeners bounds how many clients listen, one person's more so.
func TestListeners(t *testing.T) {
	s := open(t)
	one, other, third := access.TokenOwner{Name: "one"}, access.TokenOwner{Name: "other"}, access.TokenOwner{Name: "third"}
	for range maxTheirs {
		if !s.s.changeStreamCount(one, 1) || !s.s.changeStreamCount(other, 1) {
			t.Fatal("a client that may listen is refused")
		}
	}
	if s.s.changeStreamCount(one, 1) || s.s.changeStreamCount(third, 1) {
		t.Error("more listen than may")
	}
	s.s.changeStreamCount(one, -1)
	if s.s.changeStreamCount(other, 1) || !s.s.changeStreamCount(third, 1) {
		t.Error("who may listen now is somebody else")
	}
}

// TestRates bounds calls, and guesses at the token more so; who knows it still
// gets in.
func TestRates(t *testing.T) {
	s := open(t)
	s.s.calls.SetBurst(1000)
	codes := map[int]int{}
	for range 15 {
		status, _ := s.call("GET", "/api/v1/pending", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") })
		codes[status]++
	}
	if codes[401] < 10 || codes[401] > 13 || codes[429] == 0 {
		t.Errorf("guesses: %v", codes)
	}
	s.want(http.StatusOK, "GET", "/api/v1/pending", "", s.program)
	s.s.rateLimiter(access.TokenOwner{Name: access.Owner}).SetLimit(0)
	s.s.rateLimiter(access.TokenOwner{Name: access.Owner}).SetBurst(0)
	s.want(http.StatusTooManyRequests, "GET", "/api/v1/pending", "", s.program)
}

// TestFilesOfPages come at any pace: a page without its scripts is none.
func TestFilesOfPages(t *testing.T) {
	w := openWhole(t, Options{})
	s := &site{t, nil, w.s, http.DefaultClient}
	w.s.rateLimiter(access.TokenOwner{Name: access.Owner}).SetLimit(0)
	w.s.rateLimiter(access.TokenOwner{Name: access.Owner}).SetBurst(0)
	s.want(http.StatusTooManyRequests, "GET", "/runs", "", s.program)
	s.want(http.StatusOK, "GET", "/static/app.js", "", s.program)
	s.want(http.StatusUnauthorized, "GET", "/static/app.js", "", nil)
}

// TestCheck lets in other machines only where that was said, with a token.
func TestCheck(t *testing.T) {
	const token = "a-token-that-is-long"
	for want, o := range map[string]Options{
		"":                                   {Listen: "127.0.0.1:0"},
		"0.0.0.0:1 can be reached":           {Listen: "0.0.0.0:1", Token: token},
		":1 can be reached":                  {Listen: ":1", Token: token},
		"but there is no token":              {Listen: "[::]:1", Public: true},
		"there is no TLS":                    {Listen: "0.0.0.0:1", Public: true, Token: token},
		"a certificate and its key":          {TLSCert: "c"},
		"not by both":                        {TLSCert: "c", TLSKey: "k", BehindProxy: true, Hosts: []string{"n"}},
		"call the proxy by is missing":       {BehindProxy: true},
		"counts only behind a proxy":         {Forwarded: true},
		"the token is shorter than 16 bytes": {Listen: "0.0.0.0:1", Public: true, Token: "short"},
		"address nowhere: missing port":      {Listen: "nowhere"},
		"example.com:80 can be reached":      {Listen: "example.com:80"},
		"127.0.0.1.evil:80 can be reached":   {Listen: "127.0.0.1.evil:80"},
	} {
		err := CheckOptions(o)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	for _, o := range []Options{{}, {Listen: "localhost:1"}, {Listen: "[::1]:0"}, {Listen: "0.0.0.0:1", Public: true, Token: token, TLSCert: "c", TLSKey: "k"}, {Listen: "0.0.0.0:1", Public: true, Token: token, BehindProxy: true, Hosts: []string{"n"}}} {
		if err := CheckOptions(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// FuzzParse reads bodies as anybody may send them.
func FuzzParse(f *testing.F) {
	for _, body := range []string{`{"run":"r","id":"q","answer":"yes"}`, `{"run":"r","id":"q","answer":"yes"}{}`, `{"RUN":"r"}`, `[]`, ``} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		a, err := parseAnswer(strings.NewReader(body))
		if err != nil && a != (answerRequestBody{}) || err == nil && (a.Run == "" || a.ID == "" || a.Answer == "") {
			t.Errorf("%q: %+v, %v", body, a, err)
		}
	})
}

// FuzzHost lets in no name but its own.
func FuzzHost(f *testing.F) {
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "evil:8080", "[::1]:8080", "127.0.0.1.evil:8080", "0x7f000001:8080"} {
		f.Add(host)
	}
	s, err := Listen(f.Context(), nil, Options{Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.listener.Close() })
	_, port, _ := strings.Cut(strings.TrimPrefix(s.Address(), "http://"), ":")
	own := regexp.MustCompile(`^(localhost|127\.\d+\.\d+\.\d+|\[[0:.a-f127]*\]):` + port + `$`)
	f.Fuzz(func(t *testing.T, host string) {
		host = strings.ReplaceAll(host, ":8080", ":"+port)
		if s.isOwnHost(host) && !own.MatchString(host) {
			t.Errorf("%q is let in", host)
		}
	})
}
