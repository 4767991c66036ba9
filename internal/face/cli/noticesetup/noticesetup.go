// Package noticesetup builds the notification channels from the settings, and gives each its
// secrets.
package noticesetup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/notify"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// mostNotices limits the notices in a message: more than ten lines are not read on a phone.
const mostNotices = 10

// programTime limits the run time of a notification program.
const programTime = 15 * time.Second

// StateDir returns the directory of the notification state below a repository's state.
func StateDir(state string) string { return filepath.Join(state, "notify") }

// settingError returns an error about the settings.
func settingError(setting, hint, format string, args ...any) error {
	return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: setting + ": " + fmt.Sprintf(format, args...), Hint: hint}
}

// NewNotifier returns the notifier for the runs of a repository, with all configured channels.
// Channels that cannot work are left out, and reported in the error.
func NewNotifier(a *app.App, p *app.Repository, c config.NotificationSettings, say func(string, ...any)) (notify.Notifier, error) {
	d := notify.Notifier{
		Journal: p.Journal, Dir: StateDir(p.State), Place: filepath.Base(p.Repo.Work), Link: c.Link,
		Now: a.Now, Mask: a.Mask.MaskText, Say: say, Grace: notify.Grace,
	}
	var err error
	if d.Rules, err = NoticeRules(c); err != nil {
		return d, err
	}
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		w, err := NewDestination(a, c, name)
		if err != nil {
			all = append(all, err)
			continue
		}
		d.Ways = append(d.Ways, w)
	}
	return d, errors.Join(all...)
}

// Check returns an error if notifications cannot work.
func Check(a *app.App, c config.NotificationSettings) error {
	_, err := NoticeRules(c)
	all := []error{err}
	if _, err := sendTiming(c, config.NotificationChannelSettings{}, "notify"); err != nil {
		all = append(all, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		_, err := NewDestination(a, c, name)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// NoticeRules returns the rules by their names. A rule that refers to something undefined is an error.
func NoticeRules(c config.NotificationSettings) ([]notice.DeliveryRule, error) {
	var rules []notice.DeliveryRule
	for _, name := range slices.Sorted(maps.Keys(c.Rules)) {
		r := c.Rules[name]
		rule := notice.DeliveryRule{Severity: humaninput.QuestionSeverity(r.Severity), Ways: r.Ways}
		for _, k := range r.Kinds {
			if !slices.Contains(notice.NoticeKinds(), notice.NoticeKind(k)) {
				return nil, settingError("notify.rules."+name, "Kinds are "+joinKinds(notice.NoticeKinds())+".", "%q is not a kind of notice", k)
			}
			rule.Kinds = append(rule.Kinds, notice.NoticeKind(k))
		}
		for _, w := range r.Ways {
			if _, ok := c.Channels[w]; !ok && w != notify.TerminalName {
				hint := "Set up the way in [notify.ways." + w + "], or name terminal for that of the run."
				return nil, settingError("notify.rules."+name, hint, "there is no way %q", w)
			}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func joinKinds(kinds []notice.NoticeKind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// NewDestination returns a channel by its name.
func NewDestination(a *app.App, c config.NotificationSettings, name string) (notify.NotificationChannel, error) {
	w, at := c.Channels[name], "notify.ways."+name
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$`).MatchString(name) || name == notify.TerminalName {
		const hint = "Use letters, digits, - and _, and not terminal, which is that of the run."
		return notify.NotificationChannel{}, settingError(at, hint, "a way cannot have this name")
	}
	t, err := sendTiming(c, w, at)
	if err != nil {
		return notify.NotificationChannel{}, err
	}
	s, err := newSender(a, w, at)
	if err != nil {
		return notify.NotificationChannel{}, err
	}
	return notify.NotificationChannel{Name: name, Sender: s, Timing: t}, nil
}

// sendTiming returns the schedule of a channel's notices.
func sendTiming(c config.NotificationSettings, w config.NotificationChannelSettings, at string) (notice.NoticeTiming, error) {
	t := notice.NoticeTiming{
		Digest: w.Digest, Most: mostNotices, Through: humaninput.QuestionSeverity(c.Through),
		Zone: time.Local, // quiet hours are in the time zone of the machine
	}
	if c.Through == "never" {
		t.Through = ""
	}
	if window, err := time.ParseDuration(w.Digest); err == nil && window >= 0 {
		t.Window, t.Digest = window, ""
	}
	var err error
	if t.Quiet, err = improveloop.ParseWeeklyHours(c.Quiet); err != nil {
		return t, settingError("notify.quiet", "Write 22:00-07:00, or 22:00-07:00 Mon-Fri; 00:00-24:00 Sat,Sun.", "%s", err)
	}
	if err := t.Check(); err != nil {
		return t, settingError(at+".digest", "Leave it out to send notices when they come.", "%s", err)
	}
	return t, nil
}

// newSender returns the sender of a channel.
func newSender(a *app.App, w config.NotificationChannelSettings, at string) (notify.MessageSender, error) {
	switch w.Type {
	case config.NotifyDesktop:
		d := delivery.DesktopSender{Run: programRunner(a), Find: programFinder(a)}
		return d, localError(at, d.Check())
	case config.NotifySound:
		s := delivery.SoundSender{Run: programRunner(a), Find: programFinder(a), Command: w.Command}
		return s, localError(at, s.Check())
	case config.NotifyWebhook:
		secret, err := readSecret(a, at+".secret_env", w.SecretEnv)
		if err != nil {
			return nil, err
		}
		if len(secret) < webhookpost.MinSecret {
			const hint = "Use a long random one, such as openssl rand -hex 32 prints."
			return nil, settingError(at+".secret_env", hint, "the secret is shorter than %d bytes", webhookpost.MinSecret)
		}
		return delivery.NewWebhook(w.URL, secret, a.Now), checkAddress(at+".url", w.URL)
	case config.NotifySlack, config.NotifyDiscord:
		to, err := readSecret(a, at+".secret_env", w.SecretEnv)
		if err != nil {
			return nil, err
		}
		if w.Type == config.NotifySlack {
			return delivery.NewSlack(to), checkAddress(at+".secret_env", to)
		}
		return delivery.NewDiscord(to), checkAddress(at+".secret_env", to)
	case config.NotifyTelegram:
		return newTelegram(a, w, at)
	case config.NotifyMail:
		return newMail(a, w, at)
	default:
		return nil, settingError(at, "Set its type: desktop, sound, webhook, slack, discord, telegram or mail.", "it has no type")
	}
}

func localError(at string, err error) error {
	if err != nil {
		return settingError(at, "Install it, or remove the way.", "%s", err)
	}
	return nil
}

func newTelegram(a *app.App, w config.NotificationChannelSettings, at string) (notify.MessageSender, error) {
	token, err := readSecret(a, at+".secret_env", w.SecretEnv)
	if err != nil {
		return nil, err
	}
	chat, err := strconv.ParseInt(strings.Join(w.To, ","), 10, 64)
	switch {
	case err != nil || chat == 0:
		return nil, settingError(at+".to", "Write the number of one chat, such as to = [\"-1001234567890\"].", "there is no chat to send messages to")
	case !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`).MatchString(token):
		const hint = "It looks like 123456:ABC-DEF, as @BotFather gives it."
		return nil, settingError(at+".secret_env", hint, "the variable does not hold the token of a bot")
	case w.URL != "":
		err = checkAddress(at+".url", w.URL)
	}
	return delivery.NewTelegram(w.URL, token, chat), err
}

func newMail(a *app.App, w config.NotificationChannelSettings, at string) (notify.MessageSender, error) {
	m := delivery.MailSender{Server: w.Server, User: w.User, From: w.From, To: w.To, Now: a.Now}
	if w.User != "" {
		password, err := readSecret(a, at+".secret_env", w.SecretEnv)
		if err != nil {
			return nil, err
		}
		m.Password = password
	}
	if err := m.Check(); err != nil {
		return nil, settingError(at, "docs/answer-and-share.md has an example.", "%s", err)
	}
	return m, nil
}

// checkAddress validates the address of messages. The address may be a secret, so no error contains
// it.
func checkAddress(setting, text string) error {
	u, err := url.Parse(text)
	switch {
	case text == "" || err != nil || u.Host == "":
		return settingError(setting, "Write it as https://host/path.", "it is not an address")
	case !webhookpost.IsSecure(u):
		return settingError(setting, "Use an https address.", "messages would go to %s without encryption, so others could read them", u.Host)
	}
	return nil
}

// readSecret returns the value of a variable, and masks it in all output from then on.
func readSecret(a *app.App, setting, name string) (string, error) {
	if name == "" {
		return "", settingError(setting, "Set it to the name of an environment variable that holds the secret.", "there is none")
	}
	value := strings.TrimSpace(a.Env(name))
	if value == "" {
		return "", settingError(setting, "Set the variable where nexus is started.", "it names %s, which is not set", name)
	}
	a.Mask.AddSecret(value)
	return value, nil
}

// programFinder returns a function that reports whether a program of the user exists.
func programFinder(a *app.App) func(string) bool {
	return func(program string) bool { _, ok := findProgram(a, program); return ok }
}

func findProgram(a *app.App, program string) (string, bool) {
	if filepath.IsAbs(program) {
		return program, isExecutable(program)
	}
	if strings.ContainsRune(program, filepath.Separator) {
		return "", false // it would depend on the working directory
	}
	for _, dir := range filepath.SplitList(a.Env("PATH")) {
		if path := filepath.Join(dir, program); filepath.IsAbs(dir) && isExecutable(path) {
			return path, true
		}
	}
	return "", false
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// programRunner returns a function that runs a program as the user would, with the variables for finding
// the desktop.
func programRunner(a *app.App) delivery.CommandRunFunc {
	return func(ctx context.Context, args []string) error {
		path, ok := findProgram(a, args[0])
		if !ok {
			return errors.New(args[0] + " is not installed")
		}
		box, err := sandbox.FindSandbox(ctx, sandbox.ModeOff)
		if err != nil {
			return err
		}
		var env []string
		for _, name := range []string{
			"PATH", "HOME", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
			"DBUS_SESSION_BUS_ADDRESS", "PULSE_SERVER",
		} {
			if v := a.Env(name); v != "" {
				env = append(env, name+"="+v)
			}
		}
		// Without a sandbox there is no root directory, and the program can run anywhere.
		r, err := box.Run(ctx, sandbox.Command{
			Args: append([]string{path}, args[1:]...), Dir: filepath.Dir(path), Env: env, Timeout: programTime, Cap: 4 << 10,
		})
		if err != nil {
			return err
		}
		if r.Exit != 0 {
			said := strings.Join(strings.Fields(string(r.Stderr)), " ")
			return fmt.Errorf("%s exited with %d: %s", args[0], r.Exit, said)
		}
		return nil
	}
}

// NewTerminalSender returns the console's terminal as a channel, nil if there is none or it is turned off.
func NewTerminalSender(a *console.Console, c config.NotificationSettings) notify.MessageSender {
	if c.Terminal == "" || c.Terminal == "off" || !a.CanRedraw(a.Err) {
		return nil
	}
	t := delivery.TerminalSender{Out: a.Err, How: c.Terminal, Mux: a.Env("TMUX") != ""}
	if t.How == "auto" {
		t.How = delivery.DetectTerminal(a.Env)
	}
	return t
}
