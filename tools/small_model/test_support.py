"""Tests of the judge: python3 -m unittest discover tools/small_model"""

import unittest

from support import date_problems, own_words, problems

DOG = "My dog is called Rex and he is four. We moved to Lisbon."
PORT = "测试环境的端口是7070，我家猫叫年糕。"


class Support(unittest.TestCase):
    def test_the_words_of_the_user_support_a_memory(self):
        self.assertEqual(problems("The user's dog is called Rex.", DOG), [])
        self.assertEqual(problems("用户家的猫叫年糕", PORT), [])

    def test_a_name_that_nobody_said_is_reported(self):
        self.assertIn("not said: anna", problems("The user's dog Rex is called by Anna.", DOG))

    def test_a_number_that_nobody_said_is_reported(self):
        self.assertIn("not said: 8080", problems("测试环境的端口是8080", PORT))

    def test_other_words_are_reported(self):
        self.assertTrue(problems("The user enjoys sailing.", DOG))
        self.assertTrue(problems("用户喜欢打篮球", PORT))

    def test_what_the_user_only_quotes_or_asks_supports_nothing(self):
        turn = {"role": "user", "text": "If I lived in Rome? I like tea.", "not_said": ["If I lived in Rome?"]}
        said = own_words({"turns": [turn, {"role": "assistant", "text": "You live in Rome."}]})
        self.assertTrue(problems("The user lives in Rome.", said))
        self.assertEqual(problems("The user likes tea.", said), [])

    def test_what_is_over_is_not_dated_ahead(self):
        said = "We moved to Lisbon in May."
        self.assertEqual(problems("We moved to Lisbon in May (May 2026).", said), [])
        self.assertEqual(date_problems("We moved to Lisbon in May (May 2026).", said, 2026), [])
        self.assertTrue(date_problems("We moved to Lisbon in May (May 2027).", said, 2026))
        self.assertEqual(date_problems("My lease ends in June (June 2027).", said, 2026), [])


if __name__ == "__main__":
    unittest.main()
