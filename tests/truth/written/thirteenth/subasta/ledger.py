class Ledger:
    def __init__(self, stepper, closing):
        self.stepper, self.closing = stepper, closing
        self.books = []
        self.rows = []

    def pick(self, hour, params):
        if hour in self.closing:
            self.books.append((hour, params))
            return self.stepper["keep"]
        return self.stepper["plain"]

    def post(self, code, *numbers):
        self.rows.append((code, *map(float, numbers)))

    def total(self):
        return round(sum(r[1] for r in self.rows), 4)
