/** Defines the fields of label selectors in objects. */
import { list, map, object, string } from '../schema/schema.ts'

/** Returns the schema of a metav1.LabelSelector. */
export const labelSelectorSchema = (description: string) =>
  object(description, {
    matchLabels: map('Labels that must all have these values.', string('Value of the label.')),
    matchExpressions: list(
      'Requirements that must all hold.',
      object(
        'A requirement.',
        {
          key: string('Label that the requirement is about.'),
          operator: string('In, NotIn, Exists or DoesNotExist. NotIn also matches objects without the label.'),
          values: list('Values for In and NotIn.', string('A value.')),
        },
        { required: ['key', 'operator'] },
      ),
    ),
  })
