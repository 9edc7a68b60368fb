/**
 * Matches labels against a selector. Compiles the selector once, so that the cost of an object depends on its labels, not
 * on the number of terms that a client sends. Source: k8s.io/apimachinery/pkg/labels (matching).
 */
import { type LabelRequirement, type LabelSelector, parseInt64 } from './labels.ts'

/** Combines all requirements of a selector for one label. */
interface LabelCondition {
  required: boolean
  forbidden: boolean
  excluded: Set<string>
  allowed: ReadonlySet<string> | undefined
  /** Exclusive bounds of a numeric label. */
  above: bigint | undefined
  below: bigint | undefined
}

/** Returns a function that matches an object's labels. `!=` and `notin` also match objects without the label. */
export function matcherOf(selector: LabelSelector): (labels: Readonly<Record<string, string>>) => boolean {
  const conditions = new Map<string, LabelCondition>()
  for (const term of selector) {
    const condition = conditions.get(term.key) ?? newCondition()
    conditions.set(term.key, condition)
    add(condition, term)
  }
  const required = [...conditions].flatMap(([key, condition]) => (condition.required ? [key] : []))
  return (labels) =>
    required.every((key) => Object.hasOwn(labels, key)) &&
    Object.entries(labels).every(([key, label]) => takes(conditions.get(key), label))
}

/** Returns a text that is in the JSON of every object that the selector matches, if it requires a value of a label. */
export function textOf(selector: LabelSelector): string | undefined {
  const term = selector.find(({ operator, values }) => ['=', '==', 'in'].includes(operator) && values.length === 1)
  return term && `${JSON.stringify(term.key)}:${JSON.stringify(term.values[0])}`
}

const newCondition = (): LabelCondition => ({
  required: false,
  forbidden: false,
  excluded: new Set(),
  allowed: undefined,
  above: undefined,
  below: undefined,
})

function add(condition: LabelCondition, { operator, values }: LabelRequirement): void {
  if (operator === '!') condition.forbidden = true
  else if (operator === '!=' || operator === 'notin') for (const value of values) condition.excluded.add(value)
  else condition.required = true
  if (operator === '=' || operator === '==' || operator === 'in') {
    const { allowed } = condition
    condition.allowed = new Set(allowed ? values.filter((value) => allowed.has(value)) : values)
  }
  if (operator === '>') condition.above = larger(condition.above, parseInt64(values[0]))
  if (operator === '<') condition.below = smaller(condition.below, parseInt64(values[0]))
}

const larger = (a: bigint | undefined, b: bigint | undefined) => (a === undefined || (b !== undefined && b > a) ? b : a)
const smaller = (a: bigint | undefined, b: bigint | undefined) =>
  a === undefined || (b !== undefined && b < a) ? b : a

function takes(condition: LabelCondition | undefined, label: string): boolean {
  if (condition === undefined) return true
  const { forbidden, excluded, allowed, above, below } = condition
  if (forbidden || excluded.has(label) || allowed?.has(label) === false) return false
  if (above === undefined && below === undefined) return true
  const value = parseInt64(label)
  return value !== undefined && (above === undefined || value > above) && (below === undefined || value < below)
}
