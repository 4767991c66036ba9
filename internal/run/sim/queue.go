package sim

import (
	"container/heap"
	"time"
)

// event is a scheduled event of the simulation.
type event struct {
	at   time.Time
	seq  int // of two at the same time, the one that was planned first comes first
	life int // the process that it happens in; 0 for the world outside
	do   func()
}

// queue is a heap of events.
type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}

// Push implements [heap.Interface].
func (q *queue) Push(x any) {
	if e, ok := x.(event); ok {
		*q = append(*q, e)
	}
}

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

func (s *sim) at(t time.Time, life int, do func()) {
	s.count++
	heap.Push(&s.queue, event{t, s.count, life, do})
}

// in plans an event in this life of the process.
func (s *sim) in(d time.Duration, do func()) { s.at(s.now.Add(d), s.life, do) }

// in0 plans an event that needs no process.
func (s *sim) in0(d time.Duration, do func()) { s.at(s.now.Add(d), 0, do) }

// soon plans an event within a moment, in an order that no code may rely on.
func (s *sim) soon(do func()) { s.in(time.Duration(s.dice.IntN(int(20*time.Millisecond))), do) }
