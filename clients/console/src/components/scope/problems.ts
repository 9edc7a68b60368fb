/** What is wrong with a field of the form. */
export interface Problem {
  /** Such as `name`, or `3.project` for a part of a row of the scope. */
  field: string
  text: string
}
