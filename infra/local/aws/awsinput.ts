/**
 * Reads and validates the members of an AWS call. A wrong JSON type is a SerializationException; a violated constraint is a
 * ValidationException with AWS's own message. Messages never contain values, which may be secrets.
 */
import { AwsError, type AwsInput } from './awsjson.ts'

const violated = (name: string, constraint: string): AwsError =>
  new AwsError(
    'ValidationException',
    `1 validation error detected: Value at '${name.charAt(0).toLowerCase()}${name.slice(1)}' failed to satisfy constraint: ${constraint}`,
  )

/** Throws a ValidationException when the member is missing. */
export function requireMember<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw violated(name, 'Member must not be null')
  return value
}

function checkLength(name: string, length: number, min: number, max: number): void {
  if (length < min) throw violated(name, `Member must have length greater than or equal to ${min}`)
  if (length > max) throw violated(name, `Member must have length less than or equal to ${max}`)
}

const member = (input: AwsInput, name: string): unknown =>
  Object.hasOwn(input, name) && input[name] !== null ? input[name] : undefined

function asString(input: AwsInput, name: string, type: string): string | undefined {
  const value = member(input, name)
  if (value === undefined || typeof value === 'string') return value
  throw new AwsError('SerializationException', `a member cannot be converted to ${type}`)
}

/** Returns a string of `min` to `max` characters. */
export function textMember(input: AwsInput, name: string, min: number, max: number): string | undefined {
  const value = asString(input, name, 'String')
  if (value !== undefined) checkLength(name, value.length, min, max)
  return value
}

/** Returns a list of 1 to `most` strings of `min` to `max` characters. */
export function textsMember(
  input: AwsInput,
  name: string,
  { most, min, max }: { most: number; min: number; max: number },
): string[] | undefined {
  const value = member(input, name)
  if (value === undefined) return undefined
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw new AwsError('SerializationException', 'a member cannot be converted to a list of String')
  checkLength(name, value.length, 1, most)
  for (const one of value) checkLength(name, one.length, min, max)
  return value
}

export function choiceMember<Choice extends string>(
  input: AwsInput,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = asString(input, name, 'String')
  if (value === undefined) return undefined
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw violated(name, `Member must satisfy enum value set: [${choices.join(', ')}]`)
  return choice
}

/** Decodes a base64 member. Throws a SerializationException for anything but padded base64. */
export function bytesMember(input: AwsInput, name: string, min: number, max: number): Buffer | undefined {
  const value = asString(input, name, 'Blob')
  if (value === undefined) return undefined
  const decoded = Buffer.from(value, 'base64')
  if (decoded.toString('base64') !== value)
    throw new AwsError('SerializationException', 'a member cannot be converted to Blob')
  checkLength(name, decoded.length, min, max)
  return decoded
}
