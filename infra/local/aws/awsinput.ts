/**
 * Reads the members of an AWS call: a wrong JSON type is a SerializationException, a broken constraint a
 * ValidationException in the words of AWS's own front ends. Values are never echoed: they may be secrets.
 */
import { isObject } from '../../../lib/meta/value/walk.ts'
import { AwsError, type AwsInput } from './awsjson.ts'

const violated = (name: string, constraint: string): AwsError =>
  new AwsError(
    'ValidationException',
    `1 validation error detected: Value at '${name.charAt(0).toLowerCase()}${name.slice(1)}' failed to satisfy constraint: ${constraint}`,
  )

/** The member that must be there. */
export function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw violated(name, 'Member must not be null')
  return value
}

function checkLength(name: string, length: number, min: number, max: number): void {
  if (length < min) throw violated(name, `Member must have length greater than or equal to ${min}`)
  if (length > max) throw violated(name, `Member must have length less than or equal to ${max}`)
}

const member = (input: AwsInput, name: string): unknown =>
  Object.hasOwn(input, name) && input[name] !== null ? input[name] : undefined

function typed<Value>(value: unknown, fits: (value: unknown) => value is Value, type: string): Value | undefined {
  if (value === undefined || fits(value)) return value
  throw new AwsError('SerializationException', `a member cannot be converted to ${type}`)
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isTextMap = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every(isText)
const isObjectList = (value: unknown): value is AwsInput[] => Array.isArray(value) && value.every(isObject)

/** Text of `min` to `max` characters. */
export function text(input: AwsInput, name: string, min: number, max: number): string | undefined {
  const value = typed(member(input, name), isText, 'String')
  if (value !== undefined) checkLength(name, value.length, min, max)
  return value
}

export function oneOf<Choice extends string>(
  input: AwsInput,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = typed(member(input, name), isText, 'String')
  if (value === undefined) return undefined
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw violated(name, `Member must satisfy enum value set: [${choices.join(', ')}]`)
  return choice
}

/** Bytes of a base64 member; other text than padded base64 is refused. */
export function bytes(input: AwsInput, name: string, min: number, max: number): Buffer | undefined {
  const value = typed(member(input, name), isText, 'Blob')
  if (value === undefined) return undefined
  const decoded = Buffer.from(value, 'base64')
  if (decoded.toString('base64') !== value)
    throw new AwsError('SerializationException', 'a member cannot be converted to Blob')
  checkLength(name, decoded.length, min, max)
  return decoded
}

export const flag = (input: AwsInput, name: string): boolean => typed(member(input, name), isFlag, 'Boolean') ?? false

export function integer(input: AwsInput, name: string, min: number, max: number): number | undefined {
  const value = typed(member(input, name), isInteger, 'Integer')
  if (value !== undefined && value < min) throw violated(name, `Member must have value greater than or equal to ${min}`)
  if (value !== undefined && value > max) throw violated(name, `Member must have value less than or equal to ${max}`)
  return value
}

export const textList = (input: AwsInput, name: string): string[] | undefined =>
  typed(member(input, name), isTextList, 'List')

export const textMap = (input: AwsInput, name: string): Record<string, string> | undefined =>
  typed(member(input, name), isTextMap, 'Map')

export const objectList = (input: AwsInput, name: string): AwsInput[] | undefined =>
  typed(member(input, name), isObjectList, 'List')
