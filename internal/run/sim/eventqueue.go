package sim

import (
	"container/heap"
	"time"
)

// scheduledSimulationEvent is a scheduled event of the simulation.
type scheduledSimulationEvent struct {
	at   time.Time
	seq  int // of two at the same time, the one that was planned first comes first
	life int // the process that it happens in; 0 for the world outside
	do   func()
}

// eventQueue is a heap of events.
type eventQueue []scheduledSimulationEvent

func (q eventQueue) Len() int      { return len(q) }
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q eventQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}

// Push implements [heap.Interface].
func (q *eventQueue) Push(x any) {
	if e, ok := x.(scheduledSimulationEvent); ok {
		*q = append(*q, e)
	}
}

// Pop implements [heap.Interface].
func (q *eventQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

func (s *runSimulator) scheduleAt(t time.Time, life int, do func()) {
	s.count++
	heap.Push(&s.queue, scheduledSimulationEvent{t, s.count, life, do})
}

// scheduleAfter plans an event in this life of the process.
func (s *runSimulator) scheduleAfter(d time.Duration, do func()) {
	s.scheduleAt(s.now.Add(d), s.life, do)
}

// scheduleWithoutProcess plans an event that needs no process.
func (s *runSimulator) scheduleWithoutProcess(d time.Duration, do func()) {
	s.scheduleAt(s.now.Add(d), 0, do)
}

// scheduleSoon plans an event within a moment, in an order that no code may rely on.
func (s *runSimulator) scheduleSoon(do func()) {
	s.scheduleAfter(time.Duration(s.dice.IntN(int(20*time.Millisecond))), do)
}
