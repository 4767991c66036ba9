package delivery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	address "net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// mailTime limits a conversation with a mail server.
const mailTime = 30 * time.Second

// MailSender sends messages by mail.
type MailSender struct {
	Server   string // host:port
	TLS      string // starttls, implicit, or offered: STARTTLS if the server offers it; empty: [UsualTLS]
	User     string // empty: no login
	Password string
	From     string
	To       []string
	Now      func() time.Time
	Roots    *tls.Config // of the connection; nil: the system's certificates
}

// Check returns an error if mail cannot be sent.
func (m MailSender) Check() error {
	host, _, err := net.SplitHostPort(m.Server)
	switch {
	case m.Server == "":
		return errors.New("there is no mail server (server)")
	case err != nil || host == "":
		return fmt.Errorf("server is not host:port: %s", m.Server)
	case m.User != "" && m.Password == "":
		return errors.New("there is no password for the user (secret_env)")
	case len(m.To) == 0:
		return errors.New("there is no recipient (to)")
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if _, err := address.ParseAddress(a); err != nil {
			return fmt.Errorf("%q is not a mail address (from, to)", a)
		}
	}
	return nil
}

// Send sends a message. A message that the server refuses permanently is not tried again.
func (m MailSender) Send(ctx context.Context, msg NoticeMessage) error {
	ctx, cancel := context.WithTimeoutCause(ctx, mailTime, errors.New("the mail server takes too long"))
	defer cancel()
	err := m.runSMTPConversation(ctx, msg)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	said, ok := errors.AsType[*textproto.Error](err)
	text, final := err.Error(), false
	switch {
	case ok:
		plain := fmt.Sprintf("the server said %d %s", said.Code, strings.Join(strings.Fields(said.Msg), " "))
		text, final = strings.ReplaceAll(text, said.Error(), plain), said.Code >= 500
	case strings.HasSuffix(text, "does not support STARTTLS"): // the library's error has no type
		text, final = "the mail server does not offer encryption (STARTTLS)", true
	}
	return &webhookpost.PostError{Text: text, Final: final}
}

// UsualTLS returns how mail to a server, host:port, is encrypted: from the start at the port for that, and
// by STARTTLS elsewhere, without which nothing is sent. A server of this machine may have no certificate, and
// nobody reads on the way to it.
func UsualTLS(server string) string {
	host, port, _ := net.SplitHostPort(server)
	switch {
	case port == "465":
		return "implicit"
	case webhookpost.IsLoopback(host):
		return "offered"
	default:
		return "starttls"
	}
}

// runSMTPConversation conducts one conversation with the server, which ends with the context. The library's own method
// to send is not used: after the server has accepted a mail, it returns errors of the rest of the
// conversation, and the mail would be sent again.
func (m MailSender) runSMTPConversation(ctx context.Context, msg NoticeMessage) error {
	letter, err := m.formatMail(msg)
	if err != nil {
		return err
	}
	from, err := letter.GetSender(false)
	if err != nil {
		return err
	}
	recipients, err := letter.GetRecipients()
	if err != nil {
		return err
	}
	client, err := m.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // what counts was said before
	if err := client.Mail(from); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	for _, to := range recipients {
		if err := client.Rcpt(to); err != nil {
			return fmt.Errorf("to: %w", err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := letter.WriteTo(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = client.Quit() // the mail is accepted
	return nil
}

// connect returns a connection to the server that is encrypted and logged in, and that is closed at the end of the
// context.
func (m MailSender) connect(ctx context.Context) (*smtp.Client, error) {
	host, _, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, err
	}
	secure := m.tlsConfig(host)
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	policy := mail.TLSMandatory
	switch cmp.Or(m.TLS, UsualTLS(m.Server)) {
	case "implicit":
		dialer, policy = &tls.Dialer{Config: secure}, mail.NoTLS
	case "offered":
		policy = mail.TLSOpportunistic
	}
	options := []mail.Option{
		mail.WithTimeout(mailTime), mail.WithHELO("localhost"), mail.WithTLSConfig(secure), mail.WithTLSPolicy(policy),
		mail.WithDialContextFunc(func(_ context.Context, _, _ string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, "tcp", m.Server)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		}),
	}
	if m.User != "" {
		options = append(options, mail.WithSMTPAuthCustom(&bestLogin{user: m.User, password: m.Password}))
	}
	client, err := mail.NewClient(host, options...)
	if err != nil {
		return nil, err
	}
	return client.DialToSMTPClientWithContext(ctx)
}

func (m MailSender) tlsConfig(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if m.Roots != nil {
		c = m.Roots.Clone()
	}
	c.ServerName = host
	return c
}

// bestLogin logs in with the best method that the server offers. The library's own choice takes no
// password on a connection that was encrypted before it.
type bestLogin struct {
	smtp.Auth // the chosen one

	user, password string
}

// Start implements [smtp.Auth].
func (l *bestLogin) Start(s *smtp.ServerInfo) (method string, first []byte, err error) {
	offers := func(method string) bool { return slices.Contains(s.Auth, method) }
	switch {
	case offers("SCRAM-SHA-256"):
		l.Auth = smtp.ScramSHA256Auth(l.user, l.password)
	case offers("LOGIN") && !offers("PLAIN"):
		l.Auth = smtp.LoginAuth(l.user, l.password, s.Name, false)
	default:
		l.Auth = smtp.PlainAuth("", l.user, l.password, s.Name, false)
	}
	return l.Auth.Start(s)
}

// formatMail formats the mail with its headers, to which a notice's text cannot add.
func (m MailSender) formatMail(msg NoticeMessage) (*mail.Msg, error) {
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := letter.From(m.From); err != nil {
		return nil, err
	}
	if err := letter.To(m.To...); err != nil {
		return nil, err
	}
	letter.Subject(msg.Subject())
	letter.SetDateWithValue(m.Now())
	id := sha256.Sum256([]byte(msg.ID))
	_, domain, _ := strings.Cut(letter.GetFrom()[0].Address, "@")
	letter.SetMessageIDWithValue(hex.EncodeToString(id[:12]) + "@" + domain)
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	letter.SetBodyString(mail.TypeTextPlain, strings.Join(msg.TextLines(), "\r\n")+"\r\n")
	return letter, nil
}
