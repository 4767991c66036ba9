package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// storyValues are the values that are no settings, and that a story changes with a variable STORY_NAME, so that
// its case needs fewer tasks or less time.
var storyValues = map[string]func(*config.Config, int){
	"LIMITS_SAME":          func(c *config.Config, n int) { c.Limits.Same = n },
	"LIMITS_REVIEW_ROUNDS": func(c *config.Config, n int) { c.Limits.ReviewRounds = n },
	"LIMITS_LOSSES":        func(c *config.Config, n int) { c.Limits.Losses = n },
	"ALERTS_STUCK":         func(c *config.Config, n int) { c.Limits.Alerts.Stuck = milliseconds(n) },
	"REPLAN_ROUNDS":        func(c *config.Config, n int) { c.Limits.Replan.Rounds = n },
	"PLAN_DEPTH":           func(c *config.Config, n int) { c.Limits.Depth = n },
	"CHECKPOINT_AGE":       func(c *config.Config, n int) { c.Limits.Points.Age = milliseconds(n) },
	"LESSONS_SAMPLE":       func(c *config.Config, n int) { c.Lessons.Sample = n },
	"GATES_LINGER":         func(c *config.Config, n int) { c.Gates.Linger = milliseconds(n) },
	"MUTATION_TIME":        func(c *config.Config, n int) { c.Mutation.Time = milliseconds(n) },
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// storyMain is the program with the values of its story.
func storyMain() {
	config.ChangeDefaultsForTest(func(c *config.Config) {
		for name, set := range storyValues {
			if text := os.Getenv("STORY_" + name); text != "" {
				set(c, storyNumber(name, text))
			}
		}
	})
	main()
}

// storyNumber reads a value; times are in milliseconds.
func storyNumber(name, text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		fmt.Fprintf(os.Stderr, "STORY_%s=%s: %v\n", name, text, err)
		os.Exit(2)
	}
	return n
}
