package weathertest

import (
	"embed"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

//go:embed answers
var answers embed.FS

// A Fault is a way in which the service can fail.
type Fault string

// The faults. Searching for the name of one provokes it for that request, which
// helps where a test cannot reach the Server.
const (
	None        Fault = ""
	RateLimited Fault = "限流" // HTTP 429
	ServerError Fault = "故障" // HTTP 500
	WebPage     Fault = "网页" // HTTP 200 with HTML, as login pages of networks send
	Redirect    Fault = "跳转" // HTTP 302
	Refused     Fault = "拒绝" // HTTP 400 with a reason
	Garbage     Fault = "乱码" // JSON that breaks off
	Empty       Fault = "空白" // a JSON object without data
	Huge        Fault = "超大" // more than 2 MiB
	CutOff      Fault = "断线" // the connection closes without an answer
	Silent      Fault = "慢城" // no answer until the client gives up
)

// A Server plays both of the provider's services.
type Server struct {
	*httptest.Server

	closing chan struct{}

	mu       sync.Mutex // guards what follows
	requests []string
	faults   []Fault // one for each of the next requests
	always   Fault   // for the requests after those
}

// NewServer starts a server that is closed at the end of the test.
func NewServer(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{closing: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(func() {
		close(s.closing)
		s.Server.Close()
	})
	return s
}

// Break makes every further request fail; None mends it.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.always = nil, f
}

// BreakNext makes the next requests fail in these ways, one after another.
func (s *Server) BreakNext(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests returns what was asked so far, in order: "search zh 上海" and
// "forecast 31.2222 121.4581".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var asked string
	switch r.URL.Path {
	case "/v1/search":
		asked = fmt.Sprintf("search %s %s", query.Get("language"), query.Get("name"))
	case "/v1/forecast":
		asked = fmt.Sprintf("forecast %s %s", query.Get("latitude"), query.Get("longitude"))
	}
	s.mu.Lock()
	s.requests = append(s.requests, asked)
	fault := s.always
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	if fault == None {
		fault = Fault(query.Get("name"))
	}
	if s.fail(w, r, fault) {
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch r.URL.Path {
	case "/v1/search":
		search(w, query.Get("language"), query.Get("name"), query.Get("count"))
	case "/v1/forecast":
		forecast(w, query.Get("latitude"), query.Get("longitude"), query.Get("forecast_days"))
	default:
		refuse(w, http.StatusNotFound, "Not Found")
	}
}

// fail gives the answer of a fault and reports whether there was one.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Fault) bool {
	switch f {
	case RateLimited:
		refuse(w, http.StatusTooManyRequests, "Minutely API request limit exceeded. Please try again in one minute.")
	case ServerError:
		refuse(w, http.StatusInternalServerError, "Internal Server Error")
	case WebPage:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>请登录</title>")
	case Redirect:
		http.Redirect(w, r, "http://portal.invalid/", http.StatusFound)
	case Refused:
		refuse(w, http.StatusBadRequest, "Parameter 'latitude' is out of range.")
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results":[{"id":1,`)
	case Empty:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"generationtime_ms":0.4}`)
	case Huge:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"x":%q}`, strings.Repeat("x", 3<<20))
	case CutOff:
		panic(http.ErrAbortHandler)
	case Silent:
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
	default:
		return false
	}
	return true
}

// refuse answers as the service does when it says no.
func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":true,"reason":%q}`, reason)
}

// search answers with the places of a file; without one the key results is
// absent, as in the real answer.
func search(w http.ResponseWriter, language, name, count string) {
	if n, err := strconv.Atoi(count); err != nil || n < 1 || n > 100 {
		refuse(w, http.StatusBadRequest, "Parameter count must be between 1 and 100.")
		return
	}
	data := []byte(`{"generationtime_ms":0.4}`)
	folder := path.Join("answers/search", language)
	files, err := answers.ReadDir(folder)
	if err != nil { // a language without files
		files = nil
	}
	for _, file := range files {
		if strings.EqualFold(file.Name(), name+".json") && utf8.RuneCountInString(name) > 1 {
			if data, err = answers.ReadFile(path.Join(folder, file.Name())); err != nil {
				refuse(w, http.StatusInternalServerError, err.Error())
				return
			}
		}
	}
	w.Write(data)
}

// forecast answers with the recorded weather of the place, or of Shanghai where
// none is recorded.
func forecast(w http.ResponseWriter, latitude, longitude, days string) {
	lat, errLat := strconv.ParseFloat(latitude, 64)
	lon, errLon := strconv.ParseFloat(longitude, 64)
	if n, err := strconv.Atoi(days); err != nil || errLat != nil || errLon != nil || n < 1 || n > 16 {
		refuse(w, http.StatusBadRequest, "Cannot initialize a number from a string.")
		return
	}
	file := "shanghai"
	for name, at := range map[string][2]float64{
		"beijing": {39.875, 116.375}, "springfield": {39.8, -89.65}, "nulls": {33.5, 117.9},
	} {
		if math.Abs(at[0]-lat) < 0.5 && math.Abs(at[1]-lon) < 0.5 {
			file = name
		}
	}
	data, err := answers.ReadFile("answers/forecast/" + file + ".json")
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Write(data)
}
