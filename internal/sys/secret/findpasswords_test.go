package secret_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// TestPasswords checks that a password is masked where the text says that it
// is one. What is between the signs is the password.
func TestPasswords(t *testing.T) {
	m := secret.NewMasker(nil)
	for _, text := range []string{
		"postgres://app:<<s3cr3t-pa55>>@db.internal:5432/shop?sslmode=require",
		"DATABASE_URL=mysql://root:<<Zebra42kiwi>>@10.0.0.7/shop",
		`{"url":"amqp://svc:<<Qx77plumzebra>>@mq/vhost"}`,
		"see https://ada:<<gr33nfield>>@example.org/x.git, and more",
		"redis://:<<Qx77plumzebra>>@cache:6379/0",
		"mongodb+srv://ada:<<p%40ss%2Fw0rd>>@cluster0.example.net/",
		"ada:<<Zebra42kiwi>>@tcp(127.0.0.1:3306)/shop",
		"Server=db;Database=shop;User Id=ada;Password=<<Zebra42kiwi>>;Encrypt=true",
		"Server=db;Uid=ada;Pwd=<<kiwizebra>>;",
		"jdbc:postgresql://db/shop?user=ada&password=<<kiwizebra>>&ssl=true",
		"host=db user=ada password=<<Zebra42kiwi>> dbname=shop",
		"password=<<hunter2secret>>",
		"passwd: <<hunter2secret>>",
		`password = "<<hunter2secret>>"`,
		`{"dbPassword": "<<hunter2secret>>"}`,
		`{"text":"{\"password\": \"<<hunter2secret>>\"}\n"}`,
		"export PGPASSWORD=<<kiwizebra>>\n",
		"SMTP_PASSWORD='<<kiwi-zebra!>>'\n",
		"ssh_passphrase: <<Zebra42kiwi>>\n",
		"'password' => '<<hunter2secret>>',",
	} {
		from, to := strings.Index(text, "<<"), strings.Index(text, ">>")
		whole, want := text[:from]+text[from+2:to]+text[to+2:], text[:from]+secret.Mark+text[to+2:]
		if got := m.MaskText(whole); got != want {
			t.Errorf("%q became %q", whole, got)
		}
		if got := m.MaskText(want); got != want {
			t.Errorf("%q became %q", want, got)
		}
		if got := m.MaskText(whole); json.Valid([]byte(whole)) && !json.Valid([]byte(got)) {
			t.Errorf("%s is no JSON", got)
		}
	}
}

// TestNoPasswords keeps what code and examples say about passwords.
func TestNoPasswords(t *testing.T) {
	m := secret.NewMasker(nil)
	for _, text := range []string{
		"postgres://user:password@localhost/db", "postgres://postgres:postgres@localhost:5432/test", "https://user:$TOKEN@example.org", "https://user:${TOKEN}@example.org",
		"https://x-access-token:${{ secrets.TOKEN }}@github.com/a/b", "redis://:<password>@host", "http://localhost:8080/a@b", "see http://example.org:80 and a@b.c", "ssh://git@example.org:22/x", "git@example.org:a/b.git",
		"password: string", "password: str = Field(...)", "password=password", `password = os.environ["DB_PASSWORD_1"]`, "password := req.Password2", "Password: cfg.Db1.Password,", "if password == hashed2 {", `password = getpass("x")`,
		`if (password === input1) {`, "PASSWORD=${DB_PASSWORD}", "PASSWORD=changeme", `"password": "test1234"`, "password=hash1(x)", "std::password::new2", "the password: it is short", "passwordHash1 = 2", `t.Run("password=x1", f)`,
		"cwd=/home/ada/project1", "forward=left2right", `password: process.env.PASSWORD1,`, "password=*******", `Password = "Passw0rd!"`, "password: z.string().min(8)", "password=%s", "root:x1@tcp", "func password(p2 string)",
	} {
		if got := m.MaskText(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestCertain tells a key from what may be one, and from what stands in for it.
func TestCertain(t *testing.T) {
	token := "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	pem := "-----BEGIN PRIVATE " + "KEY-----\\n" + strings.Repeat("MIIEpAIBAAKCAQEA7d3f9", 3) + "\\n-----END PRIVATE " + "KEY-----\\n"
	for _, c := range []struct {
		text, kind string
		line       int
	}{
		{"a: 1\ntoken: " + token + "\n", "a token of GitHub", 2},
		{`{"type":"service_account",` + "\n" + `"private_key":"` + pem + `"}`, "a private key", 2},
		{"//registry.example.org/:_authToken=8f2kQx77plumzebra41kiwi9\n", "a token of a registry", 1},
		{"//registry.example.org/:_authToken=${NPM_TOKEN}\n", "", 0},
		{"key: AI" + "zaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "", 0},
		{"key: AKIA" + "IOSFODNN7EXAMPLE", "", 0},
		{"re = /-----BEGIN PRIVATE KEY-----/", "", 0},
		{"password=hunter2secret", "", 0},
	} {
		if kind, line, found := secret.NewMasker(nil).FindCertainKey([]byte(c.text)); kind != c.kind || line != c.line || found != (c.kind != "") {
			t.Errorf("%q: %q in line %d", c.text, kind, line)
		}
	}
}

func TestValuesOfSettings(t *testing.T) {
	text := "{\"api_key\": \"qx77plumzebra41\",\n\"clientSecret\":\"Zebra42kiwiplum\", \"public_key\": \"qx77plumzebra42\", \"name\": \"qx77plumzebra43\"}\n" +
		"ACCESS_TOKEN=plum-8f2k-zebra\nPORT=3000\nSHORT_KEY=a1b2\ntoken: ${TOKEN1234567890}\nkey = /srv/keys/a1b2c3d4\ndb.password = kiwi!Zebra#2024\nexample_key: your-api-key\n"
	want := []string{"qx77plumzebra41", "Zebra42kiwiplum", "plum-8f2k-zebra", "kiwi!Zebra#2024"}
	if got := secret.SecretValues([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func FuzzValues(f *testing.F) {
	f.Add("{\"api_key\": \"qx77plumzebra41\"}")
	f.Add("\xff_key:=\x00\nkey=")
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range secret.SecretValues([]byte(text)) {
			if len(v) < 12 || !strings.Contains(text, v) {
				t.Errorf("%q of %q", v, text)
			}
		}
	})
}
