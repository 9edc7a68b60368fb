/**
 * Validates label selectors in objects (`matchLabels`, `matchExpressions`), and converts them to requirements.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation (ValidateLabelSelector), meta/v1/helpers.go (LabelSelectorAsSelector).
 */
import { eachInvalid, type FieldError, findingsOf, forbidden, invalid, required } from '../errors/fielderror.ts'
import { labelValueErrors, qualifiedNameErrors } from '../object/names.ts'
import { sortedEntries } from '../value/walk.ts'
import type { LabelOperator, LabelSelector } from './labels.ts'

/** A metav1.LabelSelector. */
interface ObjectSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: SelectorRequirement[]
}

interface SelectorRequirement {
  key: string
  operator: string
  values?: string[]
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/** Reports whether the selector has no requirement, so that it matches every object. */
export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: ObjectSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0

/** Returns the errors of a selector at `path`. An empty selector has none. */
export function validateLabelSelector(
  { matchLabels = {}, matchExpressions = [] }: ObjectSelector,
  path: string,
): FieldError[] {
  return [
    ...findingsOf(sortedEntries(matchLabels), ([key, value]) => [
      ...eachInvalid(`${path}.matchLabels`, key, qualifiedNameErrors(key)),
      ...eachInvalid(`${path}.matchLabels`, value, labelValueErrors(value)),
    ]),
    ...findingsOf(matchExpressions, (one, index) => requirementErrors(one, `${path}.matchExpressions[${index}]`)),
  ]
}

function requirementErrors({ key, operator, values = [] }: SelectorRequirement, path: string): FieldError[] {
  return [
    ...operatorErrors(operator, values.length, path),
    ...eachInvalid(`${path}.key`, key, qualifiedNameErrors(key)),
    ...findingsOf(values, (value, index) => eachInvalid(`${path}.values[${index}]`, value, labelValueErrors(value))),
  ]
}

function operatorErrors(operator: string, count: number, path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')]
  }
}

/** Returns the requirements of a valid selector. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: ObjectSelector): LabelSelector {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: '=' as const, values: [value] }))
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    const known = OPERATORS.get(operator)
    if (known === undefined) throw new Error('the selector was not validated')
    return { key, operator: known, values }
  })
  return [...equal, ...others]
}
