package discover

import (
	"fmt"
	"strings"
	"testing"
)

// TestBench reads benchmarks, and takes for worse only what is so each time.
func TestBench(t *testing.T) {
	was, is := map[string]*benchmarkTimes{}, map[string]*benchmarkTimes{}
	for i := range turns {
		readBenchmarkOutput(fmt.Sprintf("goos: linux\nBenchmarkSum-2   \t1000\t %d ns/op\t 8 B/op\t 1 allocs/op\nBenchmarkSame 10 100 ns/op\nBenchmarkNoisy-2 5 %d ns/op\nok x 1s\n", 1000+i, 1000+100*i), was)
		readBenchmarkOutput(fmt.Sprintf("BenchmarkSum-2 1000 %d ns/op 8 B/op 1 allocs/op\nBenchmarkSame-2 10 101.5 ns/op 0 B/op 2 allocs/op\nBenchmarkNoisy-2 5 %d ns/op\nBenchmarkNew 1 1 ns/op\n", 1500+i, 1350+100*i), is)
	}
	readBenchmarkOutput("BenchmarkBad-2 x y ns/op\nBenchmarkBad-2 1 -1 ns/op NaN allocs/op\n", is)
	all := regressionFindings("sum", "v1.0.0", was, is)
	if len(all) != 1 || all[0].Title != "Make BenchmarkSum of ./sum as good as at v1.0.0" || !strings.Contains(all[0].Why, "it takes 1500 ns at best, and 1000 at v1.0.0") {
		t.Fatalf("%+v", all)
	}
	for n, want := range map[string]bool{"1500": true, "1100": false} {
		check := strings.Replace(all[0].Check, all[0].Check[:strings.Index(all[0].Check, " | awk")], "printf 'BenchmarkSum-2 1 9999 ns/op\\nBenchmarkSum-2 1 "+n+" ns/op\\n'", 1)
		if red(t, check, nil) != want {
			t.Errorf("%s: %v", check, !want)
		}
	}
	for i := range turns {
		readBenchmarkOutput("BenchmarkAlloc 1 10 ns/op 0 B/op 1 allocs/op\n", was)
		readBenchmarkOutput(fmt.Sprintf("BenchmarkAlloc 1 %d ns/op 0 B/op 2 allocs/op\n", 9+i%2), is)
	}
	if all := regressionFindings("sum", "v1.0.0", was, is); len(all) != 2 || !strings.Contains(all[0].Why, "it allocates 2 times, and 1 times") {
		t.Errorf("%+v", all)
	}
}

func FuzzReadBench(f *testing.F) {
	f.Add("BenchmarkSum-2 1000 12.5 ns/op 8 B/op 1 allocs/op")
	f.Fuzz(func(t *testing.T, printed string) {
		into := map[string]*benchmarkTimes{}
		readBenchmarkOutput(printed, into)
		for name, m := range into {
			if !strings.HasPrefix(name, "Benchmark") || len(m.ns) > len(printed) {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})
}
