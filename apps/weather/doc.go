// Package weather is the weather app, im.polaris.weather: one tool that tells
// the weather of a city now and for up to seven days.
//
// It has two halves. Service holds the logic and knows nothing of MCP: it finds
// the place that is meant, asks Open-Meteo (https://open-meteo.com, no key, data
// under CC BY 4.0) and writes the report. App and Run wrap it as an MCP server
// with appkit.
//
// # Promises
//
//   - The answer always says which place it is about: name, province, country,
//     coordinates. A name that several places share is never guessed; the
//     caller gets the candidates, each with the words that will find it.
//   - A name is matched as a whole. 西湖区 never finds 东西湖区, and a village
//     never wins over the city that everybody means.
//   - One call takes no longer than Options.Timeout, whatever the provider
//     does, and reads a bounded number of bytes.
//   - Answers are kept for ten minutes; equal questions at the same time are
//     asked once.
//
// A Service is safe for concurrent use and starts no goroutine that outlives a
// call.
package weather
