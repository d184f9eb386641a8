package control

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// ListenOptions change how a [Server] listens. The zero value is right.
type ListenOptions struct {
	// Loopback listens on 127.0.0.1 with a token instead of a unix socket.
	// It is the default where there are no unix sockets with permissions.
	Loopback bool
	// SocketDirs are folders to put the socket in when the path within the run
	// folder is too long; by default $XDG_RUNTIME_DIR and the temp folder.
	SocketDirs []string
}

// A Server offers a house at the endpoint that a run folder names.
type Server struct {
	runDir string
	at     endpoint
	ln     net.Listener
	http   *http.Server
	served chan struct{} // closed when Serve has returned
}

// Listen opens the endpoint of the daemon whose run folder is given, and
// writes its address there once it takes connections. The caller holds the
// lock of the home; whatever a dead daemon left is removed.
func Listen(runDir string, h House, o ListenOptions) (*Server, error) {
	if err := Clean(runDir); err != nil {
		return nil, fmt.Errorf("removing an old control endpoint: %w", err)
	}
	s := &Server{runDir: runDir, served: make(chan struct{})}
	handler := Handler(h)
	var err error
	if o.Loopback || !unixSockets {
		if err = s.listenLoopback(); err == nil {
			handler = guard(s.at, handler)
		}
	} else {
		err = s.listenUnix(o.SocketDirs)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the control endpoint: %w", err)
	}
	s.http = &http.Server{
		Handler:           stamp(handler),
		ReadHeaderTimeout: 10 * time.Second, // calls may be long, headers not
		MaxHeaderBytes:    64 << 10,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(s.ln) // always ErrServerClosed: nothing else closes ln
	}()
	if err := writePrivate(filepath.Join(runDir, addrFile), s.at.String()); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the control address: %w", err), s.Close(context.Background()))
	}
	return s, nil
}

// Address returns where the server listens, as aurora.addr says it.
func (s *Server) Address() string { return s.at.String() }

// Close takes no more requests, waits for those under way as long as ctx
// lives, then cuts them off. It removes the endpoint's files.
func (s *Server) Close(ctx context.Context) error {
	// First the name: who looks from now on finds no daemon.
	err := errors.Join(remove(filepath.Join(s.runDir, addrFile)), remove(filepath.Join(s.runDir, tokenFile)))
	if e := s.http.Shutdown(ctx); e != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.served
	if s.at.network == "unix" {
		removeSocket(s.at.address)
	}
	return err
}

func (s *Server) listenUnix(dirs []string) error {
	path := filepath.Join(s.runDir, sockFile)
	if len(path) > maxSocketPath {
		var err error
		if path, err = shortSocketPath(dirs); err != nil {
			return err
		}
	}
	// The run folder and the folders of shortSocketPath are 0700: nobody can
	// connect between listen and chmod.
	_ = os.Remove(path) // of a daemon that died before it wrote its address
	ln, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.ln, s.at = ln, endpoint{network: "unix", address: path}
	return nil
}

// shortSocketPath makes a private folder for a socket outside the home.
func shortSocketPath(dirs []string) (string, error) {
	if dirs == nil {
		dirs = []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()}
	}
	errs := []error{errors.New("the path of the home is too long for a socket")}
	for _, d := range dirs {
		if d == "" {
			continue
		}
		dir, err := os.MkdirTemp(d, socketDirPrefix) // 0700
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if path := filepath.Join(dir, "s"); len(path) <= maxSocketPath {
			return path, nil
		}
		_ = os.Remove(dir)
	}
	return "", errors.Join(errs...)
}

func (s *Server) listenLoopback() error {
	token := rand.Text()
	if err := writePrivate(filepath.Join(s.runDir, tokenFile), token); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.ln, s.at = ln, endpoint{network: "tcp", address: ln.Addr().String(), token: token}
	return nil
}

// stamp says in every answer, errors too, which interface answered.
func stamp(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Aurora-Api", fmt.Sprint(API))
		h.ServeHTTP(w, r)
	})
}

// guard lets only our own clients through to a TCP listener, before any work:
// the Host must be the listener's own address, an Origin its own too (a web
// page that rebinds its name to 127.0.0.1 fails here), and the token right.
func guard(at endpoint, h http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(at.address)
	allowed := map[string]bool{at.address: true, "localhost:" + port: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !allowed[r.Host]:
			refuse(w, http.StatusForbidden, "the Host header names another server")
		case !originAllowed(r.Header["Origin"], allowed):
			refuse(w, http.StatusForbidden, "requests of web pages are refused")
		case !tokenMatches(r, at.token):
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// originAllowed compares the parsed origin with our own addresses. No Origin
// is allowed: programs send none.
func originAllowed(origins []string, hosts map[string]bool) bool {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" || !hosts[u.Host] {
			return false
		}
	}
	return true
}

func tokenMatches(r *http.Request, token string) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeLine(w, Failure{Error: Errorf(call.PolicyDenied, "control endpoint: %s", why)})
}
