/** What is wrong with a field of the form. */
export interface Problem {
  /** Such as `name`, or `3.project` for a part of a row of the scope. */
  field: string
  text: string
  /** Whether something is missing, which is not a mistake while the person is still typing. */
  isMissing?: true
}
