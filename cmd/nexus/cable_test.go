package main

import (
	"io"
	"net"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cable is what lies between a client and a server, and can be cut.
type cable struct {
	mu    sync.Mutex // guards what follows
	to    string
	cut   bool
	ends  map[net.Conn]bool
}

// onCable lays a cable, and cuts it as a network does: nobody says goodbye, and
// nothing gets through until it is mended.
//
//	cable NAME           lays one; $NAME is the address of its near end
//	cable NAME to ADDR   it ends there
//	cable NAME cut
//	cable NAME mend
func onCable(ts *testscript.TestScript, _ bool, args []string) {
	p := playOf(ts)
	if len(args) == 1 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		c := &cable{ends: map[net.Conn]bool{}}
		if p.cables == nil {
			p.cables = map[string]*cable{}
		}
		p.cables[args[0]] = c
		var done sync.WaitGroup
		done.Go(func() {
			for {
				near, err := l.Accept()
				if err != nil {
					return
				}
				done.Go(func() { c.carry(near) })
			}
		})
		ts.Defer(func() { _ = l.Close(); c.sever(true); done.Wait() })
		ts.Setenv(args[0], l.Addr().String())
		return
	}
	c := p.cables[args[0]]
	switch args[1] {
	case "to":
		c.mu.Lock()
		c.to = args[2]
		c.mu.Unlock()
	case "cut":
		if n := c.sever(true); n == 0 {
			ts.Fatalf("nothing went through the cable when it was cut")
		}
	case "mend":
		c.sever(false)
	default:
		ts.Fatalf("usage: cable NAME [to ADDRESS|cut|mend]")
	}
}

// carry takes what one end says to the other, until either is gone.
func (c *cable) carry(near net.Conn) {
	c.mu.Lock()
	to, cut := c.to, c.cut
	c.mu.Unlock()
	if cut {
		reset(near)
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		reset(near)
		return
	}
	c.mu.Lock()
	c.ends[near], c.ends[far] = true, true
	cut = c.cut
	c.mu.Unlock()
	if cut {
		reset(near)
		reset(far)
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() }) // who is gone hears nothing
	_, _ = io.Copy(near, far)
	_ = near.Close()
	both.Wait()
	c.mu.Lock()
	delete(c.ends, near)
	delete(c.ends, far)
	c.mu.Unlock()
}

// sever cuts what goes through, or lets it through again. It returns how many
// connections it cut.
func (c *cable) sever(cut bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if !cut {
		return 0
	}
	for end := range c.ends {
		reset(end)
	}
	return len(c.ends) / 2
}

// reset ends a connection without a word.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // it is closed anyway
	}
	_ = c.Close()
}
