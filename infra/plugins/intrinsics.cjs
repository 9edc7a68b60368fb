/** Writes intrinsic functions of CloudFormation, and what several plugins say of functions. */

const none = { Ref: 'AWS::NoValue' }
const either = (condition, one, other) => ({ 'Fn::If': [condition, one, other] })

module.exports = {
  /** The alias that requests, streams and schedules invoke. */
  alias: 'live',
  none,
  either,
  onlyIf: (condition, value) => either(condition, value, none),
  /** Returns the list of a parameter whose parts have commas between them. */
  split: (parameter) => ({ 'Fn::Split': [',', { Ref: parameter }] }),
  sub: (text) => ({ 'Fn::Sub': text }),
}
