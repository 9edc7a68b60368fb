/** Reads label selectors, as kubectl writes them. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { UsageError } from '../io/errors.ts'

const KEY = '[A-Za-z0-9](?:[\\w./-]*[A-Za-z0-9])?'
const VALUE = '[\\w.-]*'
const REQUIREMENTS = [
  { form: new RegExp(`^(${KEY})\\s*={1,2}\\s*(${VALUE})$`), operator: 'In' },
  { form: new RegExp(`^(${KEY})\\s*!=\\s*(${VALUE})$`), operator: 'NotIn' },
  { form: new RegExp(`^(${KEY})\\s+in\\s*\\(([\\w., -]*)\\)$`), operator: 'In' },
  { form: new RegExp(`^(${KEY})\\s+notin\\s*\\(([\\w., -]*)\\)$`), operator: 'NotIn' },
  { form: new RegExp(`^(${KEY})$`), operator: 'Exists' },
  { form: new RegExp(`^!\\s*(${KEY})$`), operator: 'DoesNotExist' },
] as const

/** Returns the selector as a LabelSelector. Throws a UsageError for another form. */
export function labelSelector(text: string, option: string): JsonObject {
  // A comma within brackets separates values.
  const parts = text.split(/,(?![^(]*\))/).map((one) => one.trim())
  return { matchExpressions: parts.map((part) => requirement(part, option)) }
}

function requirement(part: string, option: string): JsonObject {
  for (const { form, operator } of REQUIREMENTS) {
    const [, key, value] = form.exec(part) ?? []
    if (key === undefined) continue
    return { key, operator, ...(value !== undefined && { values: value.split(',').map((one) => one.trim()) }) }
  }
  throw new UsageError(`${option} must be a label selector such as app=shop,env!=dev, not "${part}"`)
}

/** Returns the options that select by labels. Both are the same: one as kubectl has it, one as the options that set labels. */
export const selectorOptions = (what: string, example: string) =>
  ({
    selector: {
      type: 'string',
      short: 'l',
      value: 'SELECTOR',
      help: `only ${what} with these labels, such as ${example}`,
    },
    label: { type: 'string', multiple: true, value: 'SELECTOR', help: 'the same as --selector' },
  }) as const

/** Returns the selector that the options ask for. The server judges it. */
export function selectorOf({
  selector,
  label,
}: {
  selector?: string | undefined
  label: string[]
}): string | undefined {
  const all = [...(selector === undefined ? [] : [selector]), ...label]
  return all.length === 0 ? undefined : all.join(',')
}
