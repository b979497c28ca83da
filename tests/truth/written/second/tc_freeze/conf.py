class Knobs:
    def __init__(self):
        self.blur = 1

    def stronger(self):
        self.blur += 2


KNOBS = Knobs()
