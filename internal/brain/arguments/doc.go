// Package arguments reads the arguments of a call as models and people write
// them, by the input schema of the tool.
//
// # Promises
//
//   - What a model wrote reaches the tool as it stands: key order, the text of
//     numbers, empty and false values, unknown keys. Only two things are read
//     otherwise: nothing at all, blanks and null are {} (field fault Q01), and a
//     string becomes the array, object, number or boolean it spells where the
//     schema allows that and no string (field fault Q05).
//   - Nothing is repaired. Text that is no JSON object is an error that says
//     where it stops being one.
//   - What a person wrote is never guessed at beyond the rules of [FromWords];
//     what does not fit is an error with the usage of the tool.
//   - Functions are pure, bounded in time on any schema, and may be called from
//     any number of goroutines.
package arguments
