package noticesetup

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	masks "github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// with is an app with this environment alone.
func with(env map[string]string) *app.App {
	return &app.App{Env: func(name string) string { return env[name] }, Mask: masks.NewMasker(nil), Now: time.Now}
}

// quiet reports whether it is quiet at a time.
func quiet(t notice.NoticeTiming, at time.Time) bool {
	_, is := t.Quiet.EndOfCurrentHours(at)
	return is
}

// message is one notice.
func message() delivery.NoticeMessage {
	return delivery.NoticeMessage{Notices: []notice.Notice{{ID: "r1/1/end", Run: "r1", Kind: notice.End, Severity: humaninput.Red, Title: "the run is failed", Text: "why"}}}
}

// TestSettingsLeadToWays sends by each way what its settings say, to where they say, with
// the secret that their variable holds.
func TestSettingsLeadToWays(t *testing.T) {
	var path, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, body = r.URL.Path, string(data)
		_, _ = w.Write([]byte(`{"ok": true}`)) // who is gone reads nothing
	}))
	defer s.Close()
	a := with(map[string]string{"TO": s.URL + "/hook/s3cr3t", "BOT": "123456:ABC-DEF", "SIGN": strings.Repeat("k", 40)})
	for kind, one := range map[string]struct {
		way  config.NotificationChannelSettings
		path string
	}{
		config.NotifyWebhook:  {config.NotificationChannelSettings{URL: s.URL + "/own", SecretEnv: "SIGN"}, "/own"},
		config.NotifySlack:    {config.NotificationChannelSettings{SecretEnv: "TO"}, "/hook/s3cr3t"},
		config.NotifyDiscord:  {config.NotificationChannelSettings{SecretEnv: "TO"}, "/hook/s3cr3t"},
		config.NotifyTelegram: {config.NotificationChannelSettings{SecretEnv: "BOT", To: []string{"-100"}, URL: s.URL}, "/bot123456:ABC-DEF/sendMessage"},
	} {
		path, body = "", ""
		one.way.Type = kind
		w, err := NewDestination(a, config.NotificationSettings{Channels: map[string]config.NotificationChannelSettings{"x": one.way}}, "x")
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if err := w.Sender.Send(t.Context(), message()); err != nil || path != one.path || !strings.Contains(body, "the run is failed") {
			t.Errorf("%s: %v, %s at %s", kind, err, body, path)
		}
	}
	for _, value := range []string{s.URL + "/hook/s3cr3t", "123456:ABC-DEF", strings.Repeat("k", 40)} {
		if text := a.Mask.MaskText("it is " + value); strings.Contains(text, value) {
			t.Errorf("what a variable holds is shown: %s", text)
		}
	}
}

// TestProgramsOfTheDesktop runs what shows a message or plays a sound, with what it needs to
// find the desktop and nothing else of the environment.
func TestProgramsOfTheDesktop(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notify-send", "play"} {
		script := "#!/bin/sh\n{ echo \"$0\"; for a in \"$@\"; do echo \"[$a]\"; done; echo \"bus $DBUS_SESSION_BUS_ADDRESS key $KEY\"; } >" + filepath.Join(dir, name+".said") + "\ntest ! -e " + filepath.Join(dir, "broken") + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a := with(map[string]string{"PATH": "relative:" + dir + ":/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "KEY": "a secret"})
	send := func(w config.NotificationChannelSettings) error {
		made, err := NewDestination(a, config.NotificationSettings{Channels: map[string]config.NotificationChannelSettings{"x": w}}, "x")
		if err != nil {
			return err
		}
		return made.Sender.Send(t.Context(), message())
	}
	said := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name+".said"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := send(config.NotificationChannelSettings{Type: config.NotifyDesktop}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"[--urgency=critical]\n", "[--]\n", "the run is failed", "bus unix:path=/run/bus key \n"} {
		if !strings.Contains(said("notify-send"), part) {
			t.Errorf("%q is not in %s", part, said("notify-send"))
		}
	}
	if err := send(config.NotificationChannelSettings{Type: config.NotifySound, Command: []string{"play", "-q", "bell; rm x"}}); err != nil || !strings.Contains(said("play"), "[-q]\n[bell; rm x]\n") {
		t.Errorf("%v, %s", err, said("play"))
	}
	if err := os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := send(config.NotificationChannelSettings{Type: config.NotifyDesktop}); err == nil {
		t.Error("a program failed, and nobody hears of it")
	}
	if err := send(config.NotificationChannelSettings{Type: config.NotifySound, Command: []string{"./play"}}); err == nil {
		t.Error("a program of wherever nexus is started was run")
	}
}

// TestSettingsThatCannotWork names the setting that is wrong, and shows no secret.
func TestSettingsThatCannotWork(t *testing.T) {
	a := with(map[string]string{"PLAIN": "http://example.org/s3cr3t", "SHORT": "abc", "WORD": "no token"})
	for name, one := range map[string]struct {
		way config.NotificationChannelSettings
		at  string
	}{
		"no type":                {config.NotificationChannelSettings{}, "notify.ways.x"},
		"nobody on the way":      {config.NotificationChannelSettings{Type: config.NotifySlack, SecretEnv: "PLAIN"}, "notify.ways.x.secret_env"},
		"a variable less":        {config.NotificationChannelSettings{Type: config.NotifyDiscord, SecretEnv: "NONE"}, "notify.ways.x.secret_env"},
		"no variable":            {config.NotificationChannelSettings{Type: config.NotifySlack}, "notify.ways.x.secret_env"},
		"a short secret":         {config.NotificationChannelSettings{Type: config.NotifyWebhook, URL: "https://example.org", SecretEnv: "SHORT"}, "notify.ways.x.secret_env"},
		"no bot":                 {config.NotificationChannelSettings{Type: config.NotifyTelegram, SecretEnv: "WORD", To: []string{"1"}}, "notify.ways.x.secret_env"},
		"no chat":                {config.NotificationChannelSettings{Type: config.NotifyTelegram, SecretEnv: "WORD", To: []string{"@all"}}, "notify.ways.x.to"},
		"nothing on the desktop": {config.NotificationChannelSettings{Type: config.NotifyDesktop}, "notify.ways.x"},
		"no time of the day":     {config.NotificationChannelSettings{Type: config.NotifySlack, Digest: "25:00"}, "notify.ways.x.digest"},
	} {
		_, err := NewDestination(a, config.NotificationSettings{Channels: map[string]config.NotificationChannelSettings{"x": one.way}}, "x")
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || !strings.HasPrefix(e.Message, one.at+": ") || e.Hint == "" || strings.Contains(e.Message+e.Hint, "s3cr3t") {
			t.Errorf("%s: %v, want %s", name, err, one.at)
		}
	}
	for _, name := range []string{"", "terminal", "a b", "../x", "-x"} {
		if _, err := NewDestination(a, config.NotificationSettings{}, name); err == nil {
			t.Errorf("a way is called %q", name)
		}
	}
}

// TestTimingOfSettings holds notices back as the settings say: in the hours and the zone that
// they name, but for what is as serious as they say.
func TestTimingOfSettings(t *testing.T) {
	c := config.NotificationSettings{Quiet: "22:00-07:00", Through: "red"}
	for name, one := range map[string]struct {
		set  config.NotificationSettings
		way  config.NotificationChannelSettings
		want notice.NoticeTiming
	}{
		"as usual": {config.NotificationSettings{Through: "red"}, config.NotificationChannelSettings{}, notice.NoticeTiming{Most: mostNotices, Through: humaninput.Red, Zone: time.Local}},
		"of a way": {config.NotificationSettings{Through: "never"}, config.NotificationChannelSettings{Digest: "18:00"}, notice.NoticeTiming{Most: mostNotices, Digest: "18:00", Zone: time.Local}},
		"together": {config.NotificationSettings{Through: "never"}, config.NotificationChannelSettings{Digest: "1m"}, notice.NoticeTiming{Window: time.Minute, Most: mostNotices, Zone: time.Local}},
		"at night": {c, config.NotificationChannelSettings{}, notice.NoticeTiming{Most: mostNotices, Through: humaninput.Red}},
	} {
		have, err := sendTiming(one.set, one.way, "notify.ways.x")
		if err != nil {
			t.Fatal(err)
		}
		if have.Window != one.want.Window || have.Most != one.want.Most || have.Digest != one.want.Digest || have.Through != one.want.Through {
			t.Errorf("%s: %+v, want %+v", name, have, one.want)
		}
	}
	night, err := sendTiming(c, config.NotificationChannelSettings{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 27, 22, 30, 0, 0, time.Local)
	if night.Zone != time.Local || !quiet(night, at) || quiet(night, at.Add(-time.Hour)) {
		t.Errorf("%+v", night)
	}
	for _, wrong := range []config.NotificationSettings{{Quiet: "22-7"}} {
		if _, err := sendTiming(wrong, config.NotificationChannelSettings{}, "x"); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}
