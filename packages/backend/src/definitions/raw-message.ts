/** Messages of fields inside of other messages. */
import type { FieldError } from '../gateway/service-error.ts'

/** The codes of what PocketBase words in lower case, without a full stop, in a place where nobody corrects it. */
const LOWER_CASE =
  /^validation_(?:required|empty|nil|nil_or_not_empty_required|match_invalid|in_invalid|not_in_invalid|length_out_of_range|is_url|(?:min_greater|max_less)_equal_than_required)$/

/** As PocketBase has it before it makes a sentence of it. */
export function rawMessage({ code, message }: FieldError): string {
  return LOWER_CASE.test(code) ? message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '') : message
}
