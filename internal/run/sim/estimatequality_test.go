package sim

import "testing"

// TestForesee holds that the range in which a run is said to end is right in eight
// of ten cases, and that it is not so because it is so wide.
func TestForesee(t *testing.T) {
	f := MeasureEstimates(1, 25)
	t.Logf("%+v", f)
	if f.Problem != "" || f.Asked < 2_000 {
		t.Fatalf("%+v", f)
	}
	if f.Right < 0.8 || f.Wide > 5 {
		t.Errorf("%.3f of the ranges are right, and %.1f times wide", f.Right, f.Wide)
	}
	if f.Held < 0.75 || f.Held > 0.9 {
		t.Errorf("%.3f of the tasks took what was foreseen", f.Held)
	}
	if again := MeasureEstimates(1, 5); again != MeasureEstimates(1, 5) {
		t.Error("the same seeds give other figures")
	}
}
