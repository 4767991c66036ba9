package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/api"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// hostile is a text as an agent may write it: for terminals, browsers and eyes.
const hostile = "\x1b]52;c;aGk=\x07\x1b[2J<script>alert(1)</script>\u202etxt.exe\u202c\u009b31m\U000e0041"

// whole is a server with all that `nexus serve` has, on a real journal.
type whole struct {
	t      *testing.T
	s      *Server
	j      *journal.Journal
	tokens map[access.Role]string
	did    *[]string                 // command lines that were run, with who ran them
	fails  *access.CommandLineResult // what every command comes to; zero: what it prints
}

func openWhole(t *testing.T, o Options) *whole {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	lease, err := j.Acquire(t.Context(), "run1", nexus.RunProcess{PID: 1, Host: "h"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lease.Append(
		t.Context(), nexus.GoalAccepted{Goal: nexus.Goal{Text: hostile}, Base: "b0", Target: "main"},
		nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: hostile, Brief: hostile}}, nexus.PlanApproved{By: hostile},
		nexus.QuestionAsked{ID: "q1", Text: hostile, Fallback: hostile, Trigger: humaninput.AmbiguityTrigger},
	)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := projectionhub.OpenHub(t.Context(), j, projectionhub.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	did, fails, mu := []string{}, &access.CommandLineResult{}, &sync.Mutex{}
	act := func(_ context.Context, by access.TokenOwner, order access.CommandInput) access.CommandLineResult {
		if !by.HasRole(access.MinimumRole(order.Args)) {
			return access.CommandLineResult{Code: access.CodeRole, Text: "no"}
		}
		mu.Lock()
		defer mu.Unlock()
		result := access.CommandLineResult{Text: hostile, Data: prints(t, order.Args)}
		if fails.Code != "" {
			result = *fails
		}
		if access.MinimumRole(order.Args) == access.Read {
			return result
		}
		line := by.Actor() + ": " + strings.Join(order.Args, " ")
		if order.Stdin != "" {
			line += " < " + order.Stdin
		}
		did = append(did, line)
		return result
	}
	blob := func(string) ([]byte, error) { return []byte(hostile), nil }
	site := access.WebBackend{Hub: hub, Journal: j, Act: act, Now: time.Now, Place: hostile, Blob: blob}
	feed := api.OpenFeed(j, 0)
	inbox, err := questionchannel.OpenInbox(t.Context(), j, func(context.Context, nexus.RunID) bool { return true }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	o.Now, o.ServedRepository = time.Now, ServedRepository{Site: site, Feed: feed}
	o.Metrics = func(context.Context) (string, string, error) { return "up 1\n", "text/plain", nil }
	o.Health = func(context.Context) (any, int) { return map[string]bool{"ok": true}, http.StatusOK }
	o.Book = access.TokenStoreOf(t.TempDir())
	w := &whole{t: t, j: j, tokens: map[access.Role]string{}, did: &did, fails: fails}
	for _, role := range access.Roles {
		token, err := o.Book.AddPerson(access.TokenOwner{Name: "the-" + string(role), Role: role}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.tokens[role] = token
	}
	if w.s, err = Listen(t.Context(), inbox, o); err != nil {
		t.Fatal(err)
	}
	w.s.wrong.SetLimit(rate.Inf)
	w.s.calls.SetLimit(rate.Inf)
	for _, role := range access.Roles {
		w.s.rateLimiter(access.TokenOwner{Name: "the-" + string(role)}).SetLimit(rate.Inf)
	}
	questionruntest.RunAll(t, inbox.Follow, w.s.Serve)
	return w
}

var wild = regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`)

// path returns an address of a route.
func path(r access.ServerRoute) string {
	p := strings.NewReplacer("{$}", "", "{run}", "run1", "{task}", "T1", "{item}", "q1").Replace(r.Pattern)
	return wild.ReplaceAllString(p, "x")
}

// call calls a route, and returns the status, the headers and a little of what came back.
func (w *whole) call(r access.ServerRoute, body string, change func(*http.Request)) (int, http.Header, string) {
	w.t.Helper()
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, r.Method, w.s.Address()+path(r), strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Changes {
		req.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(req)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data := make([]byte, 1<<16)
	n := 0
	if !r.Stream || resp.StatusCode != http.StatusOK {
		n, _ = io.ReadFull(resp.Body, data)
	}
	return resp.StatusCode, resp.Header, string(data[:n])
}

func (w *whole) as(role access.Role) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+w.tokens[role]) }
}

// browser is a call of somebody's browser on a page of the server.
func (w *whole) browser(role access.Role, csrf bool) func(*http.Request) {
	cookie := access.CookieForToken(w.tokens[role])
	return func(r *http.Request) {
		r.Header.Set("Cookie", w.s.cookieName()+"="+cookie)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if r.Method != http.MethodGet {
			r.Header.Set("Origin", w.s.Address())
		}
		if csrf {
			ctx := access.WithPerson(r.Context(), access.TokenOwner{Name: "the-" + string(role), Role: role}, cookie)
			r.Header.Set(access.CSRFHeader, access.CSRFToken(ctx))
		}
	}
}

// TestEveryRoute holds each route of the table to each rule, so that a new one
// cannot forget any.
func TestEveryRoute(t *testing.T) {
	w := openWhole(t, Options{})
	if len(w.s.table) < 25 {
		t.Fatalf("%d routes", len(w.s.table))
	}
	for _, r := range w.s.table {
		t.Run(r.Method+" "+r.Pattern, func(t *testing.T) {
			w := *w
			w.t = t
			for name, c := range w.attacks(r) {
				got, h, text := w.call(r, "{}", c.change)
				if got != c.want {
					t.Errorf("%s: %d, want %d: %s", name, got, c.want, text)
				}
				w.harmless(r, h, text)
			}
			if r.Role != access.Everybody {
				w.roles(r)
			}
		})
	}
	for _, args := range [][]string{{"resume", "run1", "--detach"}, {"tell", "T1", "x"}, {"answer", "q1", "x"}, {"run", "x"}, {"land", "run1"}, {}} {
		want := map[string]access.Role{"resume": access.Steer, "tell": access.Steer, "answer": access.Answer}[strings.Join(args[:min(len(args), 1)], "")]
		if want == "" {
			want = access.Admin
		}
		if got := access.MinimumRole(args); got != want {
			t.Errorf("%q needs %s, want %s", args, got, want)
		}
	}
	for line, want := range map[string]access.Role{
		"review --run r --json -- T1": access.Read, "review --json -- T1": access.Steer, "review main..HEAD": access.Steer,
		"review --run r --viewed a -- T1": access.Answer, "review --run r --draft --batch - -- T1": access.Steer, "review --run r --send -- T1": access.Steer,
		"review --run r --resolve c1 -- T1": access.Steer, "plan --run r --markdown": access.Read, "plan --run r --diff --json": access.Read,
		"plan --run r --diff --edited -": access.Steer, "plan --run r --why x": access.Admin, "plan x": access.Admin, "plan --run=r": access.Admin,
		"approve --run r -- q1": access.Answer, "approve --run r --plan - -- q1": access.Steer, "approve --run r --plan=x -- q1": access.Steer,
		"check --run r --task T1 --gates test": access.Steer, "check --fix": access.Admin, "check --run r --task T1 --fix": access.Admin, "check --run": access.Steer,
		"models --json": access.Read, "models openai --json": access.Admin, "models --json -- openai": access.Admin, "models refresh": access.Admin,
	} {
		if got := access.MinimumRole(strings.Fields(line)); got != want {
			t.Errorf("%s needs %s, want %s", line, got, want)
		}
	}
	for _, line := range *w.did {
		if strings.HasPrefix(line, "web:the-read:") {
			t.Errorf("a reader did something: %s", line)
		}
	}
}

type attack struct {
	want   int
	change func(*http.Request)
}

// attacks are calls that no route answers, with the status that they get.
func (w *whole) attacks(r access.ServerRoute) map[string]attack {
	admin, browser := w.as(access.Admin), w.browser(access.Admin, true)
	with := func(base func(*http.Request), name, value string) func(*http.Request) {
		return func(q *http.Request) { base(q); q.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(q *http.Request) { admin(q); q.Host = name } }
	all := map[string]attack{
		"a name that leads here":        {http.StatusMisdirectedRequest, host("evil.example")},
		"the name without the port":     {http.StatusMisdirectedRequest, host("localhost")},
		"a forwarded name":              {http.StatusForbidden, with(with(admin, "X-Forwarded-Host", "evil.example"), "Origin", "http://evil.example")},
		"another site":                  {http.StatusForbidden, with(browser, "Origin", "http://evil.example")},
		"a name that begins alike":      {http.StatusForbidden, with(browser, "Origin", w.s.Address()+".evil.example")},
		"another port":                  {http.StatusForbidden, with(browser, "Origin", "http://127.0.0.1:1")},
		"another scheme":                {http.StatusForbidden, with(browser, "Origin", strings.Replace(w.s.Address(), "http", "https", 1))},
		"no origin at all":              {http.StatusForbidden, with(browser, "Origin", "null")},
		"a script of another site":      {http.StatusForbidden, with(browser, "Sec-Fetch-Site", "cross-site")},
		"a script of a site beside":     {http.StatusForbidden, with(browser, "Sec-Fetch-Site", "same-site")},
		"a token from a page elsewhere": {http.StatusForbidden, with(admin, "Origin", "http://evil.example")},
	}
	if r.Role == access.Everybody {
		return all
	}
	nobody := attack{http.StatusUnauthorized, nil}
	all["no token"] = nobody
	for name, value := range map[string]string{
		"a wrong token": "Bearer guess", "no bearer": w.tokens[access.Admin], "a basic one": "Basic " + w.tokens[access.Admin],
		"half a token": "Bearer " + w.tokens[access.Admin][1:], "a cookie as a token": "Bearer " + access.CookieForToken(w.tokens[access.Admin]), "an empty one": "Bearer ",
	} {
		all[name] = attack{http.StatusUnauthorized, func(q *http.Request) { q.Header.Set("Authorization", value) }}
	}
	all["a wrong cookie"] = attack{http.StatusUnauthorized, with(browser, "Cookie", w.s.cookieName()+"=guess")}
	all["a token as a cookie"] = attack{http.StatusUnauthorized, with(browser, "Cookie", w.s.cookieName()+"="+w.tokens[access.Admin])}
	if strings.HasPrefix(r.Pattern, "/api/") {
		all["a token in the address"] = attack{http.StatusUnauthorized, func(q *http.Request) { q.URL.RawQuery = "token=" + w.tokens[access.Admin] }}
	}
	if r.Changes {
		all["a form of another page"] = attack{http.StatusForbidden, w.browser(access.Admin, false)}
		all["somebody else's form"] = attack{http.StatusForbidden, func(q *http.Request) {
			w.browser(access.Steer, true)(q)
			q.Header.Set("Cookie", w.s.cookieName()+"="+access.CookieForToken(w.tokens[access.Admin]))
		}}
		all["it does not say from where"] = attack{http.StatusForbidden, func(q *http.Request) {
			browser(q)
			q.Header.Del("Origin")
			q.Header.Del("Sec-Fetch-Site")
		}}
	}
	return all
}

// harmless wants the headers that protect a browser, and nothing in an answer
// that a screen or a browser would act on.
func (w *whole) harmless(r access.ServerRoute, h http.Header, text string) {
	w.t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if !strings.HasPrefix(h.Get(name), want) {
			w.t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	csp := h.Get("Content-Security-Policy")
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || !strings.Contains(csp, "frame-ancestors 'none'") {
		w.t.Errorf("the policy is %s", csp)
	}
	if !strings.Contains(h.Get("Cache-Control"), "no-store") && !strings.Contains(h.Get("Cache-Control"), "immutable") {
		w.t.Errorf("it may be kept: %q", h.Get("Cache-Control"))
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		w.t.Error("other sites may read it")
	}
	kind := h.Get("Content-Type")
	if strings.HasPrefix(kind, "text/html") {
		if strings.Contains(text, "<script>alert") {
			w.t.Errorf("%s %s has a script of somebody else in its answer", r.Method, r.Pattern)
		}
		text = shown(w.t, text)
	}
	if strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/plain") {
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\u009b", "\U000e0041"} {
			if i := strings.Index(text, bad); i >= 0 {
				w.t.Errorf("%s %s has %q in its answer: %q", r.Method, r.Pattern, bad, text[max(0, i-100):i+20])
			}
		}
	}
}

// roles calls a route as each role, by token and by browser: who may not gets
// 403, who may gets anything else.
func (w *whole) roles(r access.ServerRoute) {
	w.t.Helper()
	for _, role := range access.Roles {
		for how, change := range map[string]func(*http.Request){"token": w.as(role), "browser": w.browser(role, true)} {
			got, h, text := w.call(r, "{}", change)
			refused := got == http.StatusForbidden || got == http.StatusUnauthorized
			if may := role.Includes(r.Role); refused == may {
				w.t.Errorf("%s by %s: %d: %s", role, how, got, text)
			}
			if got >= http.StatusInternalServerError {
				w.t.Errorf("%s by %s: %d: %s", role, how, got, text)
			}
			w.harmless(r, h, text)
		}
	}
	if !r.Changes {
		return
	}
	most, program := int(max(r.Body, access.DefaultBody)), strings.HasPrefix(r.Pattern, "/api/")
	for size, large := range map[int]bool{most - 1000: false, most + 1: true} {
		body, kind := "input="+strings.Repeat("y", size-len("input=")), "application/x-www-form-urlencoded"
		if program {
			body, kind = `{"action": "`+strings.Repeat("y", size-len(`{"action": ""}`))+`"}`, "application/json"
		}
		got, _, text := w.call(r, body, func(q *http.Request) {
			w.as(access.Admin)(q)
			q.Header.Set("Content-Type", kind)
		})
		if got >= http.StatusInternalServerError || (got == http.StatusRequestEntityTooLarge) != large {
			w.t.Errorf("a body of %d bytes, where %d may be: %d: %.300s", size, most, got, text)
		}
	}
}

// TestTable refuses a route that its guards could not hold to their rules.
func TestTable(t *testing.T) {
	h := http.NotFoundHandler()
	for name, r := range map[string]access.ServerRoute{
		"no role":               {Method: "GET", Pattern: "/x", Handler: h},
		"a role that is none":   {Method: "GET", Pattern: "/x", Role: "root", Handler: h},
		"a change by GET":       {Method: "GET", Pattern: "/x", Role: access.Admin, Changes: true, Handler: h},
		"a POST that hides it":  {Method: "POST", Pattern: "/x", Role: access.Admin, Handler: h},
		"a change by everybody": {Method: "POST", Pattern: "/x", Role: access.Everybody, Changes: true, Handler: h},
		"a change by readers":   {Method: "POST", Pattern: "/x", Role: access.Read, Changes: true, Handler: h},
		"a body of any size":    {Method: "POST", Pattern: "/x", Role: access.Admin, Changes: true, Body: 1 << 40, Handler: h},
		"no handler":            {Method: "GET", Pattern: "/x", Role: access.Read},
		"another host":          {Method: "GET", Pattern: "evil.example/x", Role: access.Read, Handler: h},
	} {
		if err := checkRoutes([]access.ServerRoute{r}); err == nil {
			t.Errorf("%s is served", name)
		}
	}
}

// TestLost says what there is where there is nothing, to those who may know.
func TestLost(t *testing.T) {
	w := openWhole(t, Options{})
	for _, c := range []struct {
		method, path string
		want         int
		code         string
	}{
		{"GET", "/api/v1/nothing", 404, "not_found"},
		{"DELETE", "/api/v1/runs", 405, "method"},
		{"PATCH", "/api/v1/answer", 405, "method"},
		{"GET", "/api/v1/runs/run9", 404, "not_found"},
		{"GET", "/api/v1/runs/run1/tasks/T9", 404, "not_found"},
		{"GET", "/api/v1/runs/run9/requests", 404, "not_found"},
		{"GET", "/api/v1/runs?limit=0", 422, "invalid_input"},
		{"GET", "/api/v1/runs?cursor=-1", 422, "invalid_input"},
		{"GET", "/api/v1/runs?frm=1", 422, "invalid_input"},
		{"GET", "/api/v1/events?after=99999", 422, "invalid_input"},
		{"GET", "/api/v1/events?kind=no.such", 422, "invalid_input"},
		{"GET", "/api/v1/events?task=T1", 422, "invalid_input"},
	} {
		got, _, text := w.call(access.ServerRoute{Method: c.method, Pattern: c.path}, "", w.as(access.Read))
		if got != c.want || gjson.Get(text, "error.code").String() != c.code || gjson.Get(text, "error.message").String() == "" {
			t.Errorf("%s %s: %d %s", c.method, c.path, got, text)
		}
	}
	if got, _, _ := w.call(access.ServerRoute{Method: "GET", Pattern: "/api/v1/nothing"}, "", nil); got != http.StatusUnauthorized {
		t.Errorf("a stranger is told what there is: %d", got)
	}
}

// TestRemoved lets nobody in whose token was taken away, by no way.
func TestRemoved(t *testing.T) {
	w := openWhole(t, Options{})
	runs := access.ServerRoute{Method: "GET", Pattern: "/api/v1/runs"}
	for _, change := range []func(*http.Request){w.as(access.Steer), w.browser(access.Steer, false)} {
		if got, _, text := w.call(runs, "", change); got != http.StatusOK {
			t.Fatalf("%d %s", got, text)
		}
	}
	if err := w.s.Book.Remove("the-steer"); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*http.Request){w.as(access.Steer), w.browser(access.Steer, false)} {
		if got, _, text := w.call(runs, "", change); got != http.StatusUnauthorized {
			t.Errorf("%d %s", got, text)
		}
	}
}

// TestAdmit gives a browser a cookie for the token in the address, and sends it
// nowhere else.
func TestAdmit(t *testing.T) {
	w := openWhole(t, Options{})
	for from, to := range map[string]string{"/": "/", "//evil.example/x": "/evil.example/x", "/r/run1?a=b&": "/r/run1?a=b"} {
		sep := "?"
		if strings.Contains(from, "?") {
			sep = ""
		}
		got, h, text := w.call(access.ServerRoute{Method: "GET", Pattern: from + sep + "token=" + w.tokens[access.Read]}, "", nil)
		if got == http.StatusMovedPermanently || got == http.StatusTemporaryRedirect {
			continue // the path is cleaned first
		}
		if got != http.StatusSeeOther || h.Get("Location") != to || !strings.Contains(h.Get("Set-Cookie"), "HttpOnly; SameSite=Strict") {
			t.Errorf("%s: %d to %q: %s", from, got, h.Get("Location"), text)
		}
	}
}

// TestProxy trusts what a proxy says only where that was asked for.
func TestProxy(t *testing.T) {
	runs := access.ServerRoute{Method: "GET", Pattern: "/api/v1/runs"}
	for _, trusts := range []bool{false, true} {
		t.Run(fmt.Sprint(trusts), func(t *testing.T) {
			w := openWhole(t, Options{BehindProxy: true, Hosts: []string{"nexus.example.org"}, Forwarded: trusts})
			for name, want := range map[string]int{"nexus.example.org": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
				got, _, _ := w.call(runs, "", func(q *http.Request) {
					w.as(access.Read)(q)
					q.Host = name
					q.Header.Set("Origin", "https://"+name)
				})
				if got != want {
					t.Errorf("%s: %d", name, got)
				}
				if !trusts {
					want = http.StatusOK // it was called by its own name
				}
				got, _, _ = w.call(runs, "", func(q *http.Request) { w.as(access.Read)(q); q.Header.Set("X-Forwarded-Host", name) })
				if got != want {
					t.Errorf("forwarded %s: %d, want %d", name, got, want)
				}
			}
			first := access.ServerRoute{Method: "GET", Pattern: "/?token=" + w.tokens[access.Read]}
			_, h, _ := w.call(first, "", func(q *http.Request) { q.Host = "nexus.example.org" })
			if !strings.Contains(h.Get("Set-Cookie"), "Secure") {
				t.Errorf("the cookie is %s", h.Get("Set-Cookie"))
			}
		})
	}
}
