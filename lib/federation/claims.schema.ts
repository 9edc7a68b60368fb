/** Defines the entries that claims of ID tokens must meet, which identity providers and credentials share. */
import { list, object, string } from '../engine/meta/schema/schema.ts'

/** Returns the schema of a list of claims that must all hold. */
export const claimsSchema = <const D extends string>(description: D) =>
  list(
    description,
    object(
      'A claim of the ID token. It matches if the claim has one of the values, or fits one of the patterns.',
      {
        claim: string('Name of the claim.', { minLength: 1, maxLength: 128 }),
        values: list('Accepted values, compared exactly.', string('A value.', { maxLength: 1024 }), { maxItems: 32 }),
        patterns: list(
          'Accepted patterns. * stands for any characters except /, : and @, and must not be the first character.',
          string('A pattern.', { maxLength: 256 }),
          { maxItems: 32 },
        ),
      },
      { required: ['claim'] },
    ),
    { maxItems: 16 },
  )
