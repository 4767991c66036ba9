package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// TestEveryStrategyIsTold holds that a story plays each strategy of nexus discover: it looks
// for its findings alone, or names one of them. What plugins find is called as they are.
func TestEveryStrategyIsTold(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var stories []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if told, _, _ := strings.Cut(string(data), "\n-- "); strings.Contains(told, "nexus discover") || strings.Contains(told, "nexus improve") {
			stories = append(stories, told)
		}
	}
	for _, s := range discover.AllStrategies() {
		name := regexp.QuoteMeta(s.Name)
		plays := regexp.MustCompile(`--strategies[ =]'?(?:[a-z,-]*,)?` + name + `\b|\b` + name + `/[0-9a-f\[(\\]`)
		if s.Name == "plugins" {
			plays = regexp.MustCompile(`(?s)kind = "strategy"|plugins.*nexus discover`)
		}
		played := false
		for _, told := range stories {
			played = played || plays.MatchString(told)
		}
		if !played {
			t.Errorf("no story plays the strategy %s", s.Name)
		}
	}
	if len(stories) < 10 {
		t.Errorf("%d stories look for work", len(stories))
	}
}
