package main

import (
	"io"
	"net"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// wire is what connections to a server go through, and somebody may cut.
type wire struct {
	mu    sync.Mutex // guards what follows
	to    string     // empty: nobody gets through
	mute  bool       // what is said gets lost
	pairs map[net.Conn]bool
}

// onWire plays what is between clients and a server:
//
//	wire VAR           there is one, and the variable is its address; nobody gets through yet
//	wire VAR to ADDR   leads to a server from now on
//	wire VAR cut       ends all connections at once, and lets nobody through
//	wire VAR mute      loses all that is said from now on, and nobody hears of it
func onWire(ts *testscript.TestScript, _ bool, args []string) {
	p := playOf(ts)
	w := p.wires[args[0]]
	switch {
	case len(args) == 1 && w == nil:
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		w = &wire{pairs: map[net.Conn]bool{}}
		if p.wires == nil {
			p.wires = map[string]*wire{}
		}
		p.wires[args[0]] = w
		ts.Setenv(args[0], l.Addr().String())
		var done sync.WaitGroup
		done.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				done.Go(func() { w.carry(c) })
			}
		})
		ts.Defer(func() { _ = l.Close(); w.lead(""); done.Wait() })
	case len(args) == 3 && w != nil && args[1] == "to":
		w.lead(args[2])
	case len(args) == 2 && w != nil && args[1] == "cut":
		if w.lead("") == 0 {
			ts.Fatalf("nobody is connected over %s", args[0])
		}
	case len(args) == 2 && w != nil && args[1] == "mute":
		w.mu.Lock()
		w.mute = true
		w.mu.Unlock()
	default:
		ts.Fatalf("usage: wire VAR [to ADDRESS|cut|mute]")
	}
}

// lead ends all connections, as a broken line does, and says how many there
// were. Those that come lead to an address, or nowhere.
func (w *wire) lead(to string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to, w.mute = to, false
	n := len(w.pairs)
	for c := range w.pairs {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // without a farewell
		}
		_ = c.Close()
		delete(w.pairs, c)
	}
	return n
}

// carry carries what both sides of a connection say until one has ended.
func (w *wire) carry(c net.Conn) {
	defer c.Close()
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	if to == "" {
		return
	}
	s, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer s.Close()
	w.mu.Lock()
	if w.to != to {
		w.mu.Unlock()
		return
	}
	w.pairs[c], w.pairs[s] = true, true
	w.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, s}, {s, c}} {
		both.Go(func() {
			_, _ = io.Copy(heedless{way[0], w}, way[1]) // it ends however it ends
			_ = c.Close()
			_ = s.Close()
		})
	}
	both.Wait()
	w.mu.Lock()
	delete(w.pairs, c)
	delete(w.pairs, s)
	w.mu.Unlock()
}

// heedless is the end of a wire: what comes over one that is mute gets lost.
type heedless struct {
	io.Writer

	over *wire
}

func (h heedless) Write(p []byte) (int, error) {
	h.over.mu.Lock()
	mute := h.over.mute
	h.over.mu.Unlock()
	if mute {
		return len(p), nil
	}
	return h.Writer.Write(p)
}
