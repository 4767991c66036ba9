package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// ear is a client that listens to a stream of events, as browsers do.
type ear struct {
	mu    sync.Mutex // guards what follows
	heard []string   // the data of each event, with its id in front
	last  string
	lost  int // connections that ended
}

// hear listens from now on, through all that happens to the server.
func hear(ts *testscript.TestScript, _ bool, args []string) {
	e := &ear{}
	p := playOf(ts)
	if p.ears == nil {
		p.ears = map[string]*ear{}
	}
	p.ears[args[0]] = e
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			e.listen(args[1], args[2], stop)
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	ts.Defer(func() { close(stop); done.Wait() })
	for range 100 { // until it is connected, where there is something to hear
		e.mu.Lock()
		n := len(e.heard)
		e.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// listen hears until the connection is lost.
func (e *ear) listen(url, token string, stop <-chan struct{}) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		panic(err) // a mistake in a story
	}
	r.Header.Set("Authorization", "Bearer "+token)
	e.mu.Lock()
	if e.last != "" {
		r.Header.Set("Last-Event-ID", e.last)
	}
	e.mu.Unlock()
	resp, err := (&http.Transport{}).RoundTrip(r) //nolint:bodyclose // closed below, in a goroutine
	if err != nil {
		return // it is asked again
	}
	over := make(chan struct{})
	defer close(over)
	go func() { // ends with the connection
		select {
		case <-stop:
		case <-over:
		}
		_ = resp.Body.Close()
	}()
	id, in := "", bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		e.mu.Lock()
		if err != nil {
			e.lost++
			e.mu.Unlock()
			return
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			e.heard = append(e.heard, id+" "+value)
		case "":
			e.last = cmp.Or(id, e.last) // a message counts when it has ended
		}
		e.mu.Unlock()
	}
}

// heardAll wants a client to have heard all events, each once.
func heardAll(ts *testscript.TestScript, _ bool, args []string) {
	e := playOf(ts).ears[args[0]]
	var all []string
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		e.mu.Lock()
		all = append([]string(nil), e.heard...)
		e.mu.Unlock()
		if n := len(all); n > 0 && strings.Contains(all[n-1], args[1]) {
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("%s never ends with %s: %d events", args[0], args[1], len(all))
		}
	}
	want := strings.Split(strings.TrimSpace(ts.ReadFile(args[2])), "\n")
	for n := range max(len(all), len(want)) {
		if n >= len(all) || n >= len(want) {
			ts.Fatalf("%d events were heard, %d happened", len(all), len(want))
		}
		id, data, _ := strings.Cut(all[n], " ")
		if gjson.Get(want[n], "seq").String() != id || sameJSON(data) != sameJSON(want[n]) {
			ts.Fatalf("event %d was heard as %s: %s\nwant %s", n, id, data, want[n])
		}
	}
	if e.lost == 0 {
		ts.Fatalf("the connection was never lost")
	}
	ts.Logf("%d events, %d connections lost", len(all), e.lost)
}

// sameJSON writes JSON in one way.
func sameJSON(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(data)
}

// learn sets a variable to a value in a JSON file.
func learn(ts *testscript.TestScript, _ bool, args []string) {
	v := gjson.Get(ts.ReadFile(args[1]), args[2])
	if !v.Exists() {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	ts.Setenv(args[0], v.String())
}

// conforms holds what the API answers to what it says of itself.
func conforms(ts *testscript.TestScript, _ bool, args []string) {
	least, err := strconv.Atoi(args[2])
	ts.Check(err)
	get := func(path string) string {
		r, err := http.NewRequest(http.MethodGet, args[0]+path, nil)
		ts.Check(err)
		r.Header.Set("Authorization", "Bearer "+args[1])
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		ts.Check(err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		ts.Check(err)
		if resp.StatusCode != http.StatusOK {
			ts.Fatalf("%s: %d: %s", path, resp.StatusCode, data)
		}
		return string(data)
	}
	doc := get("/api/v1/openapi.json")
	run := gjson.Get(get("/api/v1/runs"), "items.0.run").String()
	session := gjson.Get(get("/api/v1/runs/"+run+"/sessions"), "items.0.id").String()
	named := strings.NewReplacer("{run}", run, "{task}", "T1", "{session}", session, "{seq}", "1", "{key}", "limits.parallel")
	n := 0
	gjson.Get(doc, "paths").ForEach(func(path, methods gjson.Result) bool {
		ref := methods.Get(`get.responses.2XX.content.application/json.schema.$ref`).String()
		if ref == "" {
			return true
		}
		answer := get(named.Replace(path.String()))
		if err := validate(doc, strings.TrimPrefix(ref, "#/components/schemas/"), answer); err != nil {
			ts.Fatalf("%s: %v\n%s", path, err, answer)
		}
		n++
		return true
	})
	if n < least {
		ts.Fatalf("%d addresses answered, want %d", n, least)
	}
}

// validate holds JSON to a schema of a description, and shows that another
// object would not do.
func validate(doc, name, text string) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(gjson.Get(doc, "components.schemas."+name).Raw), &s); err != nil {
		return err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	if err := r.Validate(v); err != nil {
		return err
	}
	v["a_key_that_nobody_described"] = true
	if r.Validate(v) == nil {
		return fmt.Errorf("%s fits everything", name)
	}
	return nil
}
