package state

import "time"

// RunClock holds the times of a run. It counts the time worked: it stands still while the run is paused,
// waits for consent, or has no process.
type RunClock struct {
	Accepted time.Time
	Started  time.Time
	Ended    time.Time
	Updated  time.Time

	held  time.Duration // total time in which it was paused or not running
	since time.Time     // start of the present such time; zero while it runs
	heard time.Time     // time of the last fact by its conductor
}

// stopClock stops the run's clock at a time.
func (s *RunClock) stopClock(at time.Time) {
	if s.since.IsZero() {
		s.since = at
	}
}

// resumeClock starts the run's clock again.
func (s *RunClock) resumeClock(at time.Time) {
	if !s.since.IsZero() {
		s.held += at.Sub(s.since)
		s.since = time.Time{}
	}
}

// runClock returns the time without the run's pauses and the times between its processes.
func (s *RunClock) runClock(at time.Time) time.Time {
	if !s.since.IsZero() {
		at = s.since
	}
	return at.Add(-s.held)
}

// WorkedTime returns the run's working time up to a time. Pauses and the time between two
// processes do not count, nor does what comes after the run's end.
func (s *RunClock) WorkedTime(at time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	return max(0, s.runClock(at).Sub(s.Started))
}

// WorkedTimeReachedAt returns when [RunClock.WorkedTime] will reach d, or zero while the run's clock is stopped.
func (s *RunClock) WorkedTimeReachedAt(d time.Duration) time.Time {
	if !s.since.IsZero() {
		return time.Time{}
	}
	return s.Started.Add(d + s.held)
}
