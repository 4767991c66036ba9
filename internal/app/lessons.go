package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// lessonResetsFile is the file, in the state directory of a repository, with the times from
// which on lessons are learned.
const lessonResetsFile = "lessons.json"

// lessonResetTimes is the content of that file: runs before these times do not count.
type lessonResetTimes map[nexus.LessonKind]time.Time

func (p *Repository) lessonResets() (lessonResetTimes, error) {
	data, err := os.ReadFile(filepath.Join(p.State, lessonResetsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return lessonResetTimes{}, nil
	}
	f := lessonResetTimes{}
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeStorage, Message: "read " + filepath.Join(p.State, lessonResetsFile), Cause: err,
			Hint: "nexus memory reset replaces it; what earlier runs taught is lost.",
		}
	}
	return f, nil
}

// ResetLessons makes new runs ignore lessons of these kinds from runs that ended before now.
func (p *Repository) ResetLessons(now time.Time, kinds ...nexus.LessonKind) error {
	f, err := p.lessonResets()
	if err != nil {
		if len(kinds) < len(nexus.LessonKinds()) {
			return err
		}
		f = lessonResetTimes{}
	}
	f = maps.Clone(f)
	for _, k := range kinds {
		f[k] = now.UTC()
	}
	data, err := json.Marshal(f)
	if err != nil {
		return &nexus.Error{Code: nexus.CodeInternal, Message: "encode what is forgotten", Cause: err}
	}
	return filewrite.ReplaceFile(filepath.Join(p.State, lessonResetsFile), append(data, '\n'))
}

// LearnLessons returns the lessons for a run that began now, and the runs that they come from.
func (a *App) LearnLessons(ctx context.Context, p *Repository, c config.Config) (*nexus.RunLessons, []runhistory.RunRecord, error) {
	if p.Journal == nil {
		return &nexus.RunLessons{}, nil, nil
	}
	since, err := p.lessonResets()
	if err != nil {
		return nil, nil, err
	}
	runs, err := a.RunHistory(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	l := lessons.LearnLessons(runs, lessons.Options{
		Sample: c.Lessons.Sample, Off: disabledLessons(c), Since: since,
		Usual: func(x nexus.Complexity) nexus.Tier {
			return route.StartTierOf(nexus.StartTierRules{Tiers: c.Routing.Tiers}, x)
		},
		Able: func(t nexus.Tier) bool {
			most, capped := c.Limits.PerTier[t]
			return !capped || most > 0
		},
	})
	return l, runs, nil
}

// disabledLessons returns all kinds of lessons if people do not want any.
func disabledLessons(c config.Config) map[nexus.LessonKind]bool {
	off := map[nexus.LessonKind]bool{}
	for _, k := range nexus.LessonKinds() {
		off[k] = !c.Lessons.Enabled
	}
	return off
}

// newRunLessons returns the lessons for a run that begins now.
func (a *App) newRunLessons(ctx context.Context, p *Repository, c config.Config) (*nexus.RunLessons, error) {
	l, _, err := a.LearnLessons(ctx, p, c)
	if err != nil || !c.Lessons.Enabled {
		return &nexus.RunLessons{}, err
	}
	return l, nil
}

// applyLearnedGateOrder returns the settings with the gates in the learned order, if the user set none.
// It ignores gates that no longer exist and omits none that does.
func applyLearnedGateOrder(dir string, c config.Config, l *nexus.RunLessons) (config.Config, error) {
	if l == nil || l.Gates == nil || len(c.Gates.Order) > 0 {
		return c, nil
	}
	all, err := detect.DetectGates(dir, c.Gates)
	if err != nil {
		return c, err
	}
	var there []string
	for _, g := range all {
		there = append(there, g.Name)
	}
	for _, name := range l.Gates.Order {
		if slices.Contains(there, name) {
			c.Gates.Order = append(c.Gates.Order, name)
		}
	}
	return c, nil
}

// settingsWithRecordedLessons returns the settings with the lessons that were recorded when the run
// began.
func (a *App) settingsWithRecordedLessons(ctx context.Context, p *Repository, c config.Config, o RunOptions, begun []nexus.Fact) (config.Config, error) {
	for _, f := range begun {
		if g, ok := f.(nexus.GoalAccepted); ok {
			return applyLearnedGateOrder(p.Repo.Work, c, g.Routing.Lessons)
		}
	}
	s, err := p.Replay(ctx, o.Run)
	if err != nil {
		return c, err
	}
	return applyLearnedGateOrder(p.Repo.Work, c, s.Goal.Routing.Lessons)
}
