// Package smtptest is a test mail server that can also simulate failures.
package smtptest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

// ReceivedMail is a received mail.
type ReceivedMail struct {
	From string
	To   []string
	Data string // with its headers, lines ending in \n
	TLS  bool
	User string // the user who logged in
}

// Server is a running server. Set its fields before it is used.
type Server struct {
	Addr     string
	Roots    *x509.CertPool    // pool with its certificate
	PEM      []byte            // the certificate
	Password string            // required from a user; empty: no login
	Login    bool              // it offers the login LOGIN instead of PLAIN
	Implicit bool              // TLS from the first byte
	Plain    bool              // it offers no STARTTLS
	Say      map[string]string // answers by command, such as RCPT: "550 no such person"; "" is the greeting, END the end of data
	Mute     string            // the command from which on it does not answer; " " is the greeting

	listener net.Listener
	secure   *tls.Config
	all      sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	mails []ReceivedMail
	conns []net.Conn
	once  []string // answers to the next ends of data
}

// Start starts a server on loopback; change sets its fields before.
func Start(change func(*Server)) (*Server, error) {
	s := &Server{Say: map[string]string{}}
	if change != nil {
		change(s)
	}
	if err := s.makeCertificate(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		return nil, err
	}
	s.listener, s.Addr = l, l.Addr().String()
	s.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.all.Go(func() { s.serveConnection(c) })
		}
	})
	return s, nil
}

// Close stops it, with open connections.
func (s *Server) Close() {
	_ = s.listener.Close() // of a test
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close() // of a test
	}
	s.mu.Unlock()
	s.all.Wait()
}

// RefuseNext makes the server answer the next mails with these refusals, one each.
func (s *Server) RefuseNext(answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = append(s.once, answers...)
}

// Mails returns the received mails.
func (s *Server) Mails() []ReceivedMail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ReceivedMail(nil), s.mails...)
}

// makeCertificate creates a certificate that only Roots trusts.
func (s *Server) makeCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "smtptest"}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	s.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	s.Roots = x509.NewCertPool()
	s.Roots.AddCert(parsed)
	s.secure = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	return nil
}

// smtpConversation is one conversation.
type smtpConversation struct {
	s    *Server
	conn net.Conn
	r    *bufio.Reader
	mail ReceivedMail
}

func (s *Server) serveConnection(c net.Conn) {
	defer c.Close() //nolint:errcheck // of a test
	l := &smtpConversation{s: s, conn: c, r: bufio.NewReader(c)}
	if s.Implicit {
		l.startTLS()
	}
	if s.Mute == " " || !l.sendReply("", "220 smtptest") {
		_, _ = l.r.ReadString(0) // until the connection is closed
		return
	}
	for {
		text, err := l.r.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimRight(text, "\r\n"), " ")
		verb = strings.ToUpper(verb)
		if s.Mute != "" && s.Mute == verb {
			_, _ = l.r.ReadString(0) // until the connection is closed
			return
		}
		if !l.handleCommand(verb, rest) {
			return
		}
	}
}

func (l *smtpConversation) startTLS() {
	c := tls.Server(l.conn, l.s.secure)
	l.conn, l.r, l.mail.TLS = c, bufio.NewReader(c), true
}

// sendReply answers a command with the configured or the usual answer, and reports whether to continue.
func (l *smtpConversation) sendReply(verb, usual string) bool {
	text, told := l.s.Say[verb]
	if !told {
		text = usual
	}
	_, err := fmt.Fprintf(l.conn, "%s\r\n", text)
	return err == nil && !told
}

func (l *smtpConversation) handleCommand(verb, rest string) bool {
	switch verb {
	case "EHLO":
		offers := "250-smtptest\r\n"
		if !l.mail.TLS && !l.s.Plain {
			offers += "250-STARTTLS\r\n"
		}
		if l.s.Login {
			return l.sendReply(verb, offers+"250 AUTH LOGIN")
		}
		return l.sendReply(verb, offers+"250 AUTH PLAIN")
	case "STARTTLS":
		ok := l.sendReply(verb, "220 go ahead")
		l.startTLS()
		return ok
	case "AUTH":
		user, password := l.receiveLogin(rest)
		if password != l.s.Password {
			_, err := fmt.Fprint(l.conn, "535 wrong password\r\n")
			return err == nil
		}
		l.mail.User = user
		return l.sendReply(verb, "235 welcome")
	case "MAIL":
		l.mail.From = rest
		return l.sendReply(verb, "250 ok")
	case "RCPT":
		l.mail.To = append(l.mail.To, rest)
		return l.sendReply(verb, "250 ok")
	case "DATA":
		return l.sendReply(verb, "354 go ahead") && l.receiveData()
	case "QUIT":
		l.sendReply(verb, "221 bye")
		return false
	default:
		return l.sendReply(verb, "502 unknown")
	}
}

// receiveLogin returns the user and the password of a login with LOGIN or PLAIN.
func (l *smtpConversation) receiveLogin(command string) (user, password string) {
	if l.s.Login {
		return l.askLogin("334 VXNlcm5hbWU6"), l.askLogin("334 UGFzc3dvcmQ6")
	}
	_, token, _ := strings.Cut(command, " ")
	data, _ := base64.StdEncoding.DecodeString(token)
	words := strings.Split(string(data), "\x00")
	if len(words) != 3 {
		return "", ""
	}
	return words[1], words[2]
}

func (l *smtpConversation) askLogin(question string) string {
	_, _ = fmt.Fprintf(l.conn, "%s\r\n", question) // of a test
	text, _ := l.r.ReadString('\n')
	data, _ := base64.StdEncoding.DecodeString(strings.TrimRight(text, "\r\n"))
	return string(data)
}

// receiveData receives a mail.
func (l *smtpConversation) receiveData() bool {
	var b strings.Builder
	for {
		text, err := l.r.ReadString('\n')
		if err != nil {
			return false
		}
		text = strings.TrimRight(text, "\r\n")
		if text == "." {
			break
		}
		b.WriteString(strings.TrimPrefix(text, ".") + "\n")
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if len(l.s.once) > 0 {
		text := l.s.once[0]
		l.s.once = l.s.once[1:]
		_, err := fmt.Fprintf(l.conn, "%s\r\n", text)
		return err == nil
	}
	if text, told := l.s.Say["END"]; told {
		_, err := fmt.Fprintf(l.conn, "%s\r\n", text)
		return err == nil
	}
	l.mail.Data = b.String()
	l.s.mails = append(l.s.mails, l.mail)
	_, err := fmt.Fprint(l.conn, "250 taken\r\n")
	return err == nil
}
